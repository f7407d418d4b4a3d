"""Addresses at which judges may be: on the public internet, and in the networks of ``settings.JUDGE_NETWORKS``.

Whoever may name a judge makes the cluster send requests: it must not thereby reach what only the cluster can. Here
addresses that are written out are refused; a name is looked up where it is connected to, by the worker.
"""

import socket
from ipaddress import IPv4Address, ip_address
from urllib.parse import urlsplit

from django.conf import settings

from trainer_core.networks import Address, may_ask


def refusal(base_url: str) -> str | None:
    """Reason why a judge cannot be at this address; None when it can."""
    host = urlsplit(base_url).hostname or ""
    address = _written_out(host)
    if address is None or may_ask(address, settings.JUDGE_NETWORKS):
        return None
    return f"{host} is not on the public internet; whoever runs this installation may allow it by JUDGE_NETWORKS."


def _written_out(host: str) -> Address | None:
    """The address of a host that needs no look-up, also in the old spellings such as 0x7f.1; None for a name."""
    if host == "localhost" or host.endswith(".localhost"):  # RFC 6761
        return IPv4Address("127.0.0.1")
    try:
        return ip_address(host)
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(host))
    except OSError:
        return None

"""Addresses that judges may have: on the public internet, or in the networks of ``settings.JUDGE_NETWORKS``.

Users who define judges make the cluster send requests. They must not reach hosts that only the cluster can reach.
Literal addresses are checked here; names are resolved by the worker when it connects.
"""

import socket
from ipaddress import IPv4Address, ip_address
from urllib.parse import urlsplit

from django.conf import settings

from trainer_core.networks import Address, may_ask


def refusal(base_url: str) -> str | None:
    """Reason why a judge cannot have this address; None if it can."""
    host = urlsplit(base_url).hostname or ""
    address = _written_out(host)
    if address is None or may_ask(address, settings.JUDGE_NETWORKS):
        return None
    return f"{host} is not on the public internet. The operator may allow it with JUDGE_NETWORKS."


def _written_out(host: str) -> Address | None:
    """The address of a host that needs no lookup, including old notations such as 0x7f.1; None for a name."""
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

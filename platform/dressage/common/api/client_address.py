"""The address that a request comes from: one answer for limits, the audit log and log lines.

``dressage.asgi`` has set it before Django sees the request: the peer's address, or, where the peer is a trusted proxy
(``DRESSAGE_TRUSTED_PROXIES``), the last address in ``X-Forwarded-For`` that is no trusted proxy itself. Nothing else
reads that header, since anyone may send it.
"""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from django.http import HttpRequest

_SITE_V4, _SITE_V6 = 24, 48
"""Bits of the smallest networks that the internet routes: who has one address of them may have all."""


def client_address(request: HttpRequest) -> str:
    """The client's IP address as text; empty where it is not known, as behind a Unix socket."""
    try:
        return str(_plain(request.META.get("REMOTE_ADDR") or ""))
    except ValueError:
        return ""


def network_of(address: str) -> str:
    """The network that counts as one client: /24, or /48 of IPv6; a private address is a network of its own."""
    if not address:
        return "unknown"
    parsed = _plain(address)
    if parsed.is_private:
        return str(parsed)
    bits = _SITE_V6 if isinstance(parsed, IPv6Address) else _SITE_V4
    return str(ip_network(f"{parsed}/{bits}", strict=False))


def _plain(address: str) -> IPv4Address | IPv6Address:
    """The address without its zone, and as IPv4 where it is one written as IPv6. Raises ValueError for other text."""
    parsed = ip_address(address.partition("%")[0])
    mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
    return mapped or parsed

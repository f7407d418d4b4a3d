"""The address that a request comes from: one answer for limits, the audit log and log lines.

``dressage.asgi`` sets it before Django sees the request: the peer's address, or, if the peer is a trusted proxy
(``DRESSAGE_TRUSTED_PROXIES``), the last address in ``X-Forwarded-For`` that is not itself a trusted proxy. Nothing else
reads that header, since anyone can send it.
"""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from django.http import HttpRequest

_SITE_V4, _SITE_V6 = 24, 48
"""Prefix lengths of the smallest networks that the internet routes. A client with one address may have all of them."""


def client_address(request: HttpRequest) -> str:
    """The client's IP address as text; empty if it is unknown, as with a Unix socket."""
    try:
        return str(_plain(request.META.get("REMOTE_ADDR") or ""))
    except ValueError:
        return ""


def network_of(address: str) -> str:
    """The network that counts as one client: /24, or /48 for IPv6. A private address is its own network."""
    if not address:
        return "unknown"
    parsed = _plain(address)
    if parsed.is_private:
        return str(parsed)
    bits = _SITE_V6 if isinstance(parsed, IPv6Address) else _SITE_V4
    return str(ip_network(f"{parsed}/{bits}", strict=False))


def _plain(address: str) -> IPv4Address | IPv6Address:
    """The address without its zone; an IPv6-mapped IPv4 address becomes IPv4. Raises ValueError for other text."""
    parsed = ip_address(address.partition("%")[0])
    mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
    return mapped or parsed

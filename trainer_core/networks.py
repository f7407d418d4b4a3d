"""Addresses that may be asked on behalf of users: the public internet, and networks that an installation names.

Source: OWASP, Server-Side Request Forgery Prevention: decide by the address that is connected to, not by its name.
"""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052


def may_ask(address: Address | str, networks: Iterable[Network]) -> bool:
    """Whether ``address`` is public, or in one of ``networks``. Raises ValueError for text that is not an address."""
    plain = _plain(ip_address(address))
    return (plain.is_global and not plain.is_multicast) or any(plain in network for network in networks)


def _plain(address: Address) -> Address:
    """The IPv4 address inside an IPv6 address that only wraps it."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or address

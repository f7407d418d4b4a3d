"""Addresses that may be asked on behalf of users: the public internet, and networks that an installation names.

Source: OWASP, Server-Side Request Forgery Prevention: decide by the address that is connected to, not by its name.
"""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052
_ISATAP = 0x0000_5EFE
"""Upper half of an interface's number that ends in an IPv4 address (RFC 5214); one of its bits says "unique"."""
_UNIQUE = 0x0200_0000
_UNICAST = IPv6Network("2000::/3")
"""All that IANA has given out as public. Outside of it are addresses that wrap others, and former private ones."""
_NOT_PUBLIC = (
    IPv4Network("192.0.0.0/24"),  # of the protocols themselves; a cloud's metadata is here
    IPv4Network("192.88.99.0/24"),  # relays of 6to4
    IPv4Network("168.63.129.16/32"),  # a cloud's metadata, in the middle of public addresses
    IPv6Network("3fff::/20"),  # documentation, RFC 9637
)


def may_ask(address: Address | str, networks: Iterable[Network]) -> bool:
    """Whether ``address`` is public, or in one of ``networks``. Raises ValueError for text that is not an address."""
    plain = _plain(ip_address(address))
    return _is_public(plain) or any(plain in network for network in networks)


def _is_public(address: Address) -> bool:
    if not address.is_global or address.is_multicast or any(address in network for network in _NOT_PUBLIC):
        return False
    if isinstance(address, IPv4Address):
        return True
    inner = _interface(address)
    return address in _UNICAST and (inner is None or _is_public(inner))


def _interface(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address at which an ISATAP interface is reached."""
    upper, lower = (int(address) >> 32) & 0xFFFF_FFFF, int(address) & 0xFFFF_FFFF
    return IPv4Address(lower) if upper & ~_UNIQUE == _ISATAP else None


def _plain(address: Address) -> Address:
    """The IPv4 address inside an IPv6 address that only wraps it."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or address

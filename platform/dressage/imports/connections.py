"""Connections to allowed addresses only. The resolved address decides, not the host name (``trainer_core.networks``).

If the environment sets a proxy (``HTTPS_PROXY``), the proxy decides instead.
"""

import socket
from collections.abc import Callable, Iterable
from typing import Any

import httpcore2
import httpx2

OpenAddresses = Callable[[str, int], list[str]]
"""Function that returns the allowed addresses of a host and port; empty if there are none."""


class ClosedAddress(Exception):
    """The other side redirected to an address that is not allowed. The message names its host."""


class _Guarded(httpcore2.NetworkBackend):
    """Connects only to allowed addresses."""

    def __init__(self, open_addresses: OpenAddresses) -> None:
        self._open_addresses = open_addresses
        self._plain = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        failed: Exception | None = None
        for address in self._open_addresses(host, port):
            try:
                return self._plain.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failed = error
        raise failed or ClosedAddress(host)


class _Transport(httpx2.HTTPTransport):
    def __init__(self, open_addresses: OpenAddresses) -> None:
        super().__init__()
        self._pool.close()
        self._pool = httpcore2.ConnectionPool(
            ssl_context=httpx2.create_ssl_context(), max_connections=20, network_backend=_Guarded(open_addresses)
        )


def guarded(client: httpx2.Client, open_addresses: OpenAddresses) -> httpx2.Client:
    """The client, restricted to allowed addresses."""
    # Passing it to the constructor would disable the environment's proxies.
    client._transport = _Transport(open_addresses)
    return client


def addresses_of(host: str, port: int) -> list[str]:
    """All addresses of a host. Raises ``httpcore2.ConnectError`` if it has none."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise httpcore2.ConnectError(f"{host} has no address: {error.strerror}") from error
    return list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))

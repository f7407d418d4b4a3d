"""Connections to addresses that may be asked: what is connected to decides, not the name (``trainer_core.networks``).

Where the environment names a proxy (``HTTPS_PROXY``), the proxy decides instead.
"""

import socket
from collections.abc import Callable, Iterable
from typing import Any

import httpcore2
import httpx2

OpenAddresses = Callable[[str, int], list[str]]
"""The addresses of a host and port that may be asked; empty where none may."""


class ClosedAddress(Exception):
    """The other side sent us to an address that may not be asked. The message names its host."""


class _Guarded(httpcore2.NetworkBackend):
    """Connects to addresses that may be asked."""

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
    """The client, which from now on connects to open addresses alone."""
    # Given to the constructor it would turn the environment's proxies off.
    client._transport = _Transport(open_addresses)
    return client


def addresses_of(host: str, port: int) -> list[str]:
    """All addresses of a host. Raises ``httpcore2.ConnectError`` where it has none."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise httpcore2.ConnectError(f"{host} has no address: {error.strerror}") from error
    return list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))

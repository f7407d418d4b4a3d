"""Connections of the hub's client: to the operator's endpoint, and from there to the public internet alone.

The hub redirects downloads to wherever its files lie. Whoever answers at the endpoint must not thereby have the
platform ask what only the platform can reach, so the address that is connected to decides (see
``trainer_core.networks``). Where the environment names a proxy (``HTTPS_PROXY``), the proxy decides instead.
"""

import socket
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import httpcore2
import httpx2
from django.conf import settings
from huggingface_hub import constants, set_client_factory
from huggingface_hub.utils._http import hf_request_event_hook

from trainer_core.networks import may_ask

PIECE_BYTES = 1 << 20


class ClosedAddress(Exception):
    """The other side sent us to an address that may not be asked. The message names its host."""


class _Guarded(httpcore2.NetworkBackend):
    """Connects to addresses that may be asked."""

    def __init__(self) -> None:
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
        for address in _open_addresses(host, port):
            try:
                return self._plain.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failed = error
        raise failed or ClosedAddress(host)


class _Transport(httpx2.HTTPTransport):
    def __init__(self) -> None:
        super().__init__()
        self._pool.close()
        self._pool = httpcore2.ConnectionPool(
            ssl_context=httpx2.create_ssl_context(), max_connections=20, network_backend=_Guarded()
        )


def use_guarded_connections() -> None:
    """Have ``huggingface_hub`` connect in this way, in this process, from its next request on."""
    # What has come of a piece is lost with the connection, and progress is told after each: ten megabytes are much.
    constants.DOWNLOAD_CHUNK_SIZE = PIECE_BYTES
    set_client_factory(_client)


def _client() -> httpx2.Client:
    client = httpx2.Client(event_hooks={"request": [hf_request_event_hook]}, follow_redirects=True, timeout=30.0)
    # Given to the constructor it would turn the environment's proxies off.
    client._transport = _Transport()
    return client


def _open_addresses(host: str, port: int) -> list[str]:
    own = _addresses(urlsplit(settings.HUB_ENDPOINT).hostname or "", port)
    found = _addresses(host, port)
    return [address for address in found if address in own or may_ask(address, settings.IMPORT_NETWORKS)]


def _addresses(host: str, port: int) -> list[str]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise httpcore2.ConnectError(f"{host} has no address: {error.strerror}") from error
    return list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))

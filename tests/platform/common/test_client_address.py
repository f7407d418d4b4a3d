"""The client's address: forwarded headers count from trusted proxies alone."""

import asyncio
from ipaddress import ip_network
from typing import Any

import pytest
from django.test import RequestFactory
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from dressage.asgi import application
from dressage.common.api.client_address import client_address, network_of
from dressage.config import Config
from dressage.supervisor.processes import services

PROXY, INNER, CLIENT = "10.1.0.1", "10.1.0.2", "20.1.113.7"


def seen(peer: str, *forwarded: str, trusted: tuple[str, ...], kind: str = "http") -> str:
    """The address that the routes behind the proxy headers are told."""
    told: list[str] = []

    async def routes(scope: Any, receive: Any, send: Any) -> None:
        told.append(scope["client"][0])

    headers = [(b"x-forwarded-for", value.encode()) for value in forwarded]
    scope: Any = {"type": kind, "client": (peer, 1), "headers": headers, "scheme": "http"}
    networks = [str(ip_network(text)) for text in trusted]
    asyncio.run(ProxyHeadersMiddleware(routes, networks)(scope, None, None))  # type: ignore[arg-type]
    return told[0]


@pytest.mark.parametrize(
    ("peer", "forwarded", "trusted", "expected"),
    [
        ("127.0.0.1", ["9.9.9.9"], (), "127.0.0.1"),
        (CLIENT, ["9.9.9.9"], (PROXY,), CLIENT),
        (PROXY, [CLIENT], (PROXY,), CLIENT),
        (PROXY, [f"9.9.9.9, {CLIENT}"], (PROXY,), CLIENT),
        (PROXY, ["9.9.9.9", f"{CLIENT}, {INNER}"], ("10.1.0.0/16",), CLIENT),
        (PROXY, [f"9.9.9.9, {INNER}, {CLIENT}"], ("10.1.0.0/16",), CLIENT),
        (PROXY, [], (PROXY,), PROXY),
    ],
)
def test_forwarded_addresses(peer: str, forwarded: list[str], trusted: tuple[str, ...], expected: str) -> None:
    for kind in ("http", "websocket"):
        assert seen(peer, *forwarded, trusted=trusted, kind=kind) == expected


def test_nobody_is_trusted_by_default() -> None:
    """Neither by the application, nor by the server in front of it, which would trust this machine."""
    assert isinstance(application, ProxyHeadersMiddleware)
    assert "127.0.0.1" not in application.trusted_hosts
    config = Config.model_validate({})
    web = next(process for process in services(config, None) if process.name == "web")
    assert "--no-proxy-headers" in web.command


def test_the_setting_takes_addresses_and_networks() -> None:
    config = Config.model_validate({"DRESSAGE_TRUSTED_PROXIES": "10.0.0.1, fd00::/8"})
    assert [str(network) for network in config.resolved_trusted_proxies] == ["10.0.0.1/32", "fd00::/8"]
    with pytest.raises(ValueError, match="does not appear"):
        _ = Config.model_validate({"DRESSAGE_TRUSTED_PROXIES": "proxy.example"}).resolved_trusted_proxies


@pytest.mark.parametrize(
    ("told", "address", "network"),
    [
        ("20.1.113.7", "20.1.113.7", "20.1.113.0/24"),
        ("::ffff:20.1.113.7", "20.1.113.7", "20.1.113.0/24"),
        ("2600:1:2:3::4", "2600:1:2:3::4", "2600:1:2::/48"),
        ("192.168.1.9", "192.168.1.9", "192.168.1.9"),
        ("fe80::1%eth0", "fe80::1", "fe80::1"),
        ("no address", "", "unknown"),
        ("", "", "unknown"),
    ],
)
def test_addresses_and_networks(told: str, address: str, network: str) -> None:
    request = RequestFactory().get("/", REMOTE_ADDR=told, HTTP_X_FORWARDED_FOR="9.9.9.9")
    assert client_address(request) == address
    assert network_of(address) == network

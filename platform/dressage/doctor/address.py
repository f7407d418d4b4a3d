"""Faults between a browser and the web server: TLS, the proxy's headers, WebSockets; and mail."""

import base64
import json
import os
import smtplib
import ssl
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from urllib.parse import urlsplit

from dressage.config import origin_of
from dressage.doctor.fault import Fault
from dressage.doctor.place import Place
from dressage.email_url import parse_email_url

_PATIENCE_S = 10


def public_address(place: Place) -> Iterator[Fault]:
    """Browsers reach the web server at DRESSAGE_URL, over TLS that the platform knows of, and WebSockets work."""
    url = place.config.public_url
    if place.config.url is None and not place.is_up:
        return
    try:
        status, told = _ask(url, "/health/live")
    except ssl.SSLError as error:
        yield Fault(
            "tls-broken",
            f"TLS at {url} fails: {error}",
            "Renew the proxy's certificate, let it send the whole chain, and check its names.",
        )
        return
    except (OSError, HTTPException, ValueError) as error:
        yield Fault(
            "url-unreachable",
            f"Nothing answers at DRESSAGE_URL={url}: {error}",
            "Check DNS, the proxy and firewalls; set DRESSAGE_URL to the address that browsers open.",
        )
        return
    scheme = _scheme(told)
    if status != 200 or scheme is None:
        yield Fault(
            "url-elsewhere",
            f"{url} answers {status}, but not as Dressage.",
            "Set DRESSAGE_URL to the address whose proxy leads here, and let the proxy forward every path.",
        )
        return
    if scheme != urlsplit(url).scheme:
        yield Fault(
            "proxy-headers",
            f"Browsers open {url}, but the web server sees {scheme}.",
            "Let the proxy send X-Forwarded-Proto and X-Forwarded-For. Set its address in DRESSAGE_TRUSTED_PROXIES.",
        )
    yield from _streams(url)


def _streams(url: str) -> Iterator[Fault]:
    """Open a WebSocket and close it again: streams check by themselves who may read."""
    key = base64.b64encode(os.urandom(16)).decode()
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": key}
    status: int | str
    try:
        status, _ = _ask(url, "/ws/v1/team", {**upgrade, "Origin": origin_of(url)})
    except (OSError, HTTPException) as error:
        status = str(error) or type(error).__name__
    if status == 101:
        return
    if status == 403:
        yield Fault(
            "origin-refused",
            f"A page of {origin_of(url)} may not open the stream.",
            "Set DRESSAGE_URL on the web server as well, or add that address to DRESSAGE_ORIGINS.",
        )
        return
    yield Fault(
        "websocket-blocked",
        f"A WebSocket at {url} is answered with {status} instead of 101: pages show no live curves.",
        "Let the proxy forward the headers Upgrade and Connection over HTTP/1.1, see docs/security.md for nginx.",
    )


def _ask(url: str, path: str, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
    """Status and start of a response."""
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    with closing(kind(parts.hostname or "", parts.port, timeout=_PATIENCE_S)) as connection:
        connection.request("GET", path, headers=headers or {})
        response: HTTPResponse = connection.getresponse()
        return response.status, b"" if response.status == 101 else response.read(4096)


def _scheme(told: bytes) -> str | None:
    try:
        return str(json.loads(told)["scheme"])
    except (ValueError, KeyError, TypeError):
        return None


def mail(place: Place) -> Iterator[Fault]:
    """The mail server accepts our connection."""
    if place.config.email_url is None:
        return
    try:
        server = parse_email_url(place.config.email_url)
        kind = smtplib.SMTP_SSL if server.tls else smtplib.SMTP
        with kind(server.host, server.port, timeout=_PATIENCE_S) as client:
            if server.starttls:
                client.starttls()
            if server.user:
                client.login(server.user, server.password)
            client.noop()
    except (OSError, smtplib.SMTPException, ValueError) as error:
        yield Fault(
            "mail-refused",
            f"The mail server of DRESSAGE_EMAIL_URL refuses the connection: {error}",
            "Check its name, port and password (write characters such as @ as %40), and that this machine may send"
            " mail.",
        )

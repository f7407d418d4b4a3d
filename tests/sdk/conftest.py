"""A platform behind a proxy that can fail, and clients of it."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from dressage.common.roles import Role
from dressage.teams.models import Team
from dressage_sdk.client import TOKEN, URL
from dressage_sdk.connection import Connection
from dressage_sdk.runs import RunsApi
from tests.platform.conftest import actor, empty_cache, other_team, quick_passwords, team
from tests.platform.runs.fixtures import make_run, nouns, reachable_link, run_root
from tests.platform.tokens import token_of

__all__ = [
    "actor",
    "empty_cache",
    "make_run",
    "nouns",
    "other_team",
    "quick_passwords",
    "reachable_link",
    "run_root",
    "team",
]

CLOSE = "close"
"""The proxy closes the connection instead of answering."""
LOSE = "lose"
"""The platform gets the request, and its answer is lost."""


@dataclass
class FaultyProxy:
    """A web server in front of the platform. It fails as often as told, then passes requests on."""

    platform: str
    faults: list[Any] = field(default_factory=list)
    """One for each request until none is left: ``CLOSE``, ``LOSE``, or (status, headers)."""
    requests: list[str] = field(default_factory=list)
    """Method and path of each request."""

    def __post_init__(self) -> None:
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                proxy._answer(self)

            do_POST = do_GET

            def log_message(self, *_: object) -> None:
                """Nothing: tests read ``requests``."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        self.requests.append(f"{request.command} {request.path}")
        fault = self.faults.pop(0) if self.faults else None
        if fault == CLOSE:
            return
        if isinstance(fault, tuple):
            self._send(request, fault[0], fault[1], b"<h1>busy</h1>")
            return
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        headers = {name: value for name, value in request.headers.items() if name.lower() not in ("host", "connection")}
        url = f"{self.platform}{request.path}"
        answer = httpx.request(request.command, url, headers=headers, content=body, timeout=None)
        if fault != LOSE:
            kept = {"Content-Type", "X-Request-ID", "Retry-After", "Location"}
            self._send(
                request,
                answer.status_code,
                {n: answer.headers[n] for n in kept & {*answer.headers}}
                | {"Content-Type": answer.headers.get("Content-Type", "")},
                answer.content,
            )

    def _send(self, request: BaseHTTPRequestHandler, status: int, headers: dict[str, str], body: bytes) -> None:
        request.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(body)


@pytest.fixture
def proxy(live_server: Any) -> Iterator[FaultyProxy]:
    """The platform behind a proxy."""
    server = FaultyProxy(live_server.url)
    yield server
    server.close()


@pytest.fixture
def secret(team: Team) -> str:
    """The secret of a token that may do anything with runs."""
    return token_of(team, Role.OPERATOR)[1]


@pytest.fixture
def slept() -> list[float]:
    """Seconds of each wait of ``runs``."""
    return []


@pytest.fixture
def runs(proxy: FaultyProxy, secret: str, slept: list[float]) -> Iterator[RunsApi]:
    """A client of the proxy that does not wait between its attempts."""
    connection = Connection(proxy.url, secret, timeout=120, retries=3, sleep=slept.append)
    yield RunsApi(connection)
    connection.close()


@pytest.fixture
def environment(live_server: Any, secret: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """``environment(url=…, token=…)`` sets the variables of a client; without arguments, to those of the platform."""

    def use(url: str = live_server.url, token: str = secret) -> None:
        monkeypatch.setenv(URL, url)
        monkeypatch.setenv(TOKEN, token)

    return use

"""An installation behind TLS, one on this machine, and one that others reach without TLS."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from dressage.config import ROOT, Config
from dressage.supervisor.exposure import exposure
from dressage.supervisor.processes import services
from dressage.supervisor.ready import wait_for_web
from tests.support.about import INSTALLATION


class ToTheProxy(BaseHTTPRequestHandler):
    """Answers as the platform does behind TLS: by a redirect to an address that nobody answers."""

    def do_GET(self) -> None:
        self.send_response(301)
        self.send_header("Location", "https://127.0.0.1:1/api/v1/session")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Keep the tests' output clean."""


@pytest.fixture
def behind_tls() -> Iterator[tuple[str, int]]:
    server = HTTPServer(("127.0.0.1", 0), ToTheProxy)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield "127.0.0.1", server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def test_up_does_not_wait_for_the_proxy_in_front(behind_tls: tuple[str, int]) -> None:
    wait_for_web(behind_tls, seconds=2)


@pytest.mark.parametrize(
    ("host", "reached"),
    [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::", "::1"), ("10.0.0.7", "10.0.0.7")],
)
def test_up_waits_at_the_address_on_which_its_server_listens(
    host: str, reached: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRESSAGE_HOST", host)
    monkeypatch.setenv("DRESSAGE_URL", "https://dressage.example.com")
    monkeypatch.setenv("DRESSAGE_PORT", "8700")
    assert Config().local_address == (reached, 8700)


@pytest.mark.parametrize("url", ["https://dressage.example.com", "http://127.0.0.1:8600", "http://localhost", ""])
def test_nothing_is_exposed(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRESSAGE_TRUSTED_PROXIES", "127.0.0.1")
    monkeypatch.setenv("DRESSAGE_URL", url) if url else monkeypatch.delenv("DRESSAGE_URL", raising=False)
    assert exposure(Config()) is None


def test_plain_http_for_others_is_told_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("DRESSAGE_URL", "http://dressage.example.com"), ("DRESSAGE_HOST", "10.0.0.7")):
        monkeypatch.delenv("DRESSAGE_URL", raising=False)
        monkeypatch.setenv(name, value)
        sentence = exposure(Config())
        assert sentence and "plain http" in sentence and "passwords, sessions, API tokens" in sentence


def test_a_proxy_that_is_not_believed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRESSAGE_URL", "https://dressage.example.com")
    monkeypatch.delenv("DRESSAGE_TRUSTED_PROXIES", raising=False)
    sentence = exposure(Config())
    assert sentence and sentence.startswith("DRESSAGE_TRUSTED_PROXIES is empty")


@pytest.mark.expensive(9, "starts processes of the platform", about=INSTALLATION)
@pytest.mark.parametrize(
    ("url", "warnings"),
    [
        ("https://dressage.example.com", []),
        ("http://dressage.example.com", ["dressage.W001"]),
    ],
)
def test_check_deploy(url: str, warnings: list[str], tmp_path: Path) -> None:
    status, told, said = check_deploy(tmp_path, DRESSAGE_URL=url)
    assert (status, told) == (0, warnings), said


@pytest.mark.expensive(11, "starts processes of the platform", about=INSTALLATION)
@pytest.mark.parametrize(
    ("changed", "status", "ids"),
    [
        ({}, 0, []),
        ({"DRESSAGE_EMAIL_URL": ""}, 0, ["dressage.W002"]),
        ({"DRESSAGE_URL": "http://dressage.example.com"}, 1, ["dressage.E001"]),
        ({"DRESSAGE_TRUSTED_PROXIES": ""}, 1, ["dressage.E002"]),
        ({"DRESSAGE_HOSTS": "*"}, 1, ["dressage.E004"]),
    ],
    ids=["as it should be", "no mail server", "plain http", "no proxy", "any host"],
)
def test_check_deploy_in_production(changed: dict[str, str], status: int, ids: list[str], tmp_path: Path) -> None:
    whole = {"DRESSAGE_MODE": "production", "DRESSAGE_URL": "https://dressage.example.com"}
    whole |= {"DRESSAGE_EMAIL_URL": "smtps://user:password@mail.example.com", **changed}
    found, told, said = check_deploy(tmp_path, **whole)
    assert (found, sorted(told)) == (status, ids), said


def check_deploy(home: Path, **settings: str) -> tuple[int, list[str], str]:
    """Exit status of ``manage.py check --deploy``, the ids of what it tells, and all that it says; empty is unset."""
    environment = {
        **os.environ,
        "DRESSAGE_HOME": str(home),
        "DRESSAGE_TRUSTED_PROXIES": "10.0.0.1",
        "DRESSAGE_SECRET_KEY": "k" * 25 + "0123456789" * 3,
        **settings,
    }
    environment = {name: value for name, value in environment.items() if value and name != "DRESSAGE_DEBUG"}
    done = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "check", "--deploy"],
        env=environment,
        capture_output=True,
        text=True,
    )
    told = [line.split(")")[0].removeprefix("?: (") for line in done.stderr.splitlines() if line.startswith("?:")]
    return done.returncode, told, done.stderr


def test_the_web_server_takes_no_large_message_of_a_stream(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DRESSAGE_HOME", str(tmp_path))
    web = next(process for process in services(Config(), None) if process.name == "web")
    assert int(web.command[web.command.index("--ws-max-size") + 1]) <= 4096

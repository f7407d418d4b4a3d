"""Two web processes behind one address: one dies in mid-stream, and nobody misses or repeats an event.

They share what has to be shared: sessions, limits on sign-in, repeated requests.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.db import connection, transaction
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from dressage.common.roles import Role
from dressage.config import ROOT
from dressage.runs.life.lifecycle import locked
from dressage.runs.models import Run
from dressage.supervisor.ready import wait_for_web
from dressage.teams.models import Team, User
from dressage.telemetry.events import append_event
from tests.platform.tokens import token_of
from tests.support.installation import end_with_parent, free_port, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
LAST = 120
NGINX = """
daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;
events {{}}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  map $http_upgrade $connection_upgrade {{ default upgrade; "" ""; }}
  upstream web {{ server 127.0.0.1:{ports[0]}; server 127.0.0.1:{ports[1]}; }}
  server {{
    listen 127.0.0.1:{port};
    add_header X-Served-By $upstream_addr always;
    location / {{
      proxy_pass http://web; proxy_http_version 1.1; proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade;
      proxy_next_upstream error timeout; proxy_connect_timeout 2s;
    }}
  }}
}}
"""


@dataclass
class Site:
    """The address in front, and the process behind each port."""

    port: int
    processes: dict[int, subprocess.Popen[bytes]]
    log: Path
    """Lines of both web processes."""


@contextmanager
def running(command: list[str], log: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    settings = {**os.environ, **environment}
    with log.open("ab") as lines:
        process = subprocess.Popen(
            command, env=settings, cwd=ROOT, stdout=lines, stderr=lines, preexec_fn=end_with_parent
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, django_db_setup: None) -> Iterator[Site]:
    """Two web processes of the test's database, and nginx in front of them."""
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx is None:
        pytest.skip("nginx is not installed: no proxy can stand in front of two web processes")
    folder = tmp_path_factory.mktemp("site")
    server, name = os.environ["DATABASE_URL"], connection.settings_dict["NAME"]
    environment = {
        "DATABASE_URL": server.replace("/dressage?", f"/{name}?"),
        "DRESSAGE_SECRET_KEY": settings.SECRET_KEY,
        "DRESSAGE_TRUSTED_PROXIES": "127.0.0.1",
        "DRESSAGE_LOG_FORMAT": "json",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "platform"), str(ROOT)]),
    }
    ports, port = [free_port(), free_port()], free_port()
    web = [sys.executable, "-m", "uvicorn", "dressage.asgi:application", "--no-proxy-headers", "--log-level", "warning"]
    web += ["--no-access-log"]
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, ports=ports, port=port))
    with ExitStack() as stack:
        processes = {
            p: stack.enter_context(running([*web, "--port", str(p)], folder / "log", **environment)) for p in ports
        }
        for each in ports:
            wait_for_web(("127.0.0.1", each))
        stack.enter_context(running([nginx, "-p", str(folder), "-c", str(folder / "nginx.conf")], folder / "nginx"))
        wait_for_web(("127.0.0.1", port))
        yield Site(port, processes, folder / "log")


class Viewer(threading.Thread):
    """What the console does: connects again after a loss, and goes on behind the last event that it saw."""

    def __init__(self, site: Site, run_id: str, token: str) -> None:
        super().__init__(daemon=True)
        self._address = f"ws://127.0.0.1:{site.port}/ws/v1/runs/{run_id}"
        self._headers = {"Authorization": f"Bearer {token}"}
        self.seen: list[int] = []
        self.last: int | None = None
        self.ports: list[int] = []
        """Of the processes that have served it, one after the other."""

    def run(self) -> None:
        while (self.last or 0) < LAST:
            after = "" if self.last is None else f"?after={self.last}"
            with connect(self._address + after, additional_headers=self._headers, proxy=None) as socket:
                assert socket.response is not None
                self.ports.append(int(socket.response.headers["X-Served-By"].rpartition(":")[2]))
                try:
                    self._read(socket)
                except ConnectionClosed:
                    continue

    def _read(self, socket: Any) -> None:
        while (self.last or 0) < LAST:
            frame = json.loads(socket.recv(timeout=20))
            self.seen += [event["seq"] for event in frame.get("events", ())]
            self.last = frame.get("seq") or self.last


def test_they_count_and_remember_together(site: Site, make_user: Callable[..., User]) -> None:
    user = make_user()
    one, other = (httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1", trust_env=False) for port in site.processes)
    with closing(one), closing(other):
        tries = [_sign_in(client, user.email, "a wrong password") for client in (one, other, one, other, one, other)]
        assert tries[:3] == [401, 401, 401] and set(tries[3:]) <= {401, 429} and tries[-1] == 429
        # A session that one has opened is known to the other, and ends for both.
        _, token = token_of(user.memberships.get().team, Role.EDITOR)
        headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "once-and-for-all"}
        body = {"name": "Exact", "definition": {"components": [{"name": "a", "grader": {"type": "exact"}}]}}
        made = [client.post("/rewards", json=body, headers=headers) for client in (one, other)]
        assert [answer.status_code for answer in made] == [201, 201]
        assert made[0].json()["id"] == made[1].json()["id"]
        assert made[1].headers["Idempotency-Replayed"] == "true"


def test_no_request_is_logged_but_one_that_is_refused(site: Site) -> None:
    """An invitation's address is its secret; a foreign host is one line, and the server's own lines are as ours."""
    before = len(site.log.read_text().splitlines())
    address = f"http://127.0.0.1:{next(iter(site.processes))}"
    with httpx.Client(base_url=address, trust_env=False) as client:
        assert client.get("/invitations/secret-of-an-invitation").status_code in (200, 503)
        assert client.get("/health/ready", headers={"Host": "evil.example"}).status_code == 200
        assert client.get("/runs", headers={"Host": "evil.example"}).status_code == 400
    lines = site.log.read_text().splitlines()
    assert [re.findall(r'"logger": "([\w.]+)"', line) for line in lines[before:]] == [
        ["django.security.DisallowedHost"]
    ]
    assert not any("uvicorn" in line for line in lines)


def test_a_process_dies_in_mid_stream(site: Site, make_run: Callable[..., Run], team: Team) -> None:
    run = make_run()
    _, token = token_of(team, Role.VIEWER)
    viewer = Viewer(site, run.id, token)
    viewer.start()
    wait_until(lambda: viewer.last is not None, 20)
    first = viewer.last or 0
    for seq in range(first + 1, LAST + 1):
        with transaction.atomic():
            append_event(locked(run.id), "log", {"level": "info", "message": str(seq)})
        if seq == LAST // 2:
            wait_until(lambda: (viewer.last or 0) > first, 20)
            site.processes[viewer.ports[0]].kill()
    viewer.join(timeout=30)
    assert viewer.seen == list(range(first + 1, LAST + 1))
    assert len(viewer.ports) == 2 and set(viewer.ports) == set(site.processes)


def _sign_in(client: httpx.Client, email: str, password: str) -> int:
    client.get("/session")
    headers = {"X-CSRFToken": client.cookies.get("csrftoken") or ""}
    return client.post("/session", json={"email": email, "password": password}, headers=headers).status_code

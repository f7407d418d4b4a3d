"""A whole installation for tests and benchmarks: ``manage.py up`` in a folder of its own, and a client for its API."""

import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import httpx
import psutil

ROOT = Path(__file__).resolve().parents[2]
_LIBC, _PR_SET_PDEATHSIG = ctypes.CDLL(None), 1
STARTED_WITH = dict(os.environ)
"""The environment before any test: an engine in the process of the tests changes it, and would keep the hub away."""
EMAIL, PASSWORD = "admin@example.com", "a-long-test-password"


class Installation:
    """Use as a context manager: up on entry; on exit everything is stopped, and nothing may be left running."""

    def __init__(self, **environment: str) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="dressage-up-"))
        self.home.chmod(0o755)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = self.home / "up.log"
        own = ("DATABASE_URL", "REDIS_URL", "RAY_ADDRESS", "DRESSAGE_SECRET_KEY")
        self._environment = {key: value for key, value in STARTED_WITH.items() if key not in own} | {
            "DRESSAGE_HOME": str(self.home),
            "DRESSAGE_PORT": str(self.port),
            "DRESSAGE_ADMIN_EMAIL": EMAIL,
            "DRESSAGE_ADMIN_PASSWORD": PASSWORD,
            **environment,
        }
        self.api = Api(self.url)

    def __enter__(self) -> Self:
        command = [sys.executable, str(ROOT / "manage.py"), "up", "--demo", "--no-run"]
        self._process = subprocess.Popen(
            command,
            env=self._environment,
            stdout=self.log.open("wb"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=end_with_parent,
        )
        try:
            wait_until(self._is_up, 180, lambda: f"not up:\n{self.log_tail()}")
            self.api.sign_in(EMAIL, PASSWORD)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        left = self.stop()
        shutil.rmtree(self.home, ignore_errors=True)
        assert not left, f"processes left behind: {left}"

    def stop(self) -> list[str]:
        """Ctrl-C. Returns the command lines of processes that outlived it."""
        family = psutil.Process(self._process.pid).children(recursive=True) if self._process.poll() is None else []
        self._process.send_signal(signal.SIGINT)
        self._process.wait(timeout=60)
        _, alive = psutil.wait_procs(family, timeout=5)
        left = [" ".join(process.cmdline())[:200] for process in alive if process.status() != psutil.STATUS_ZOMBIE]
        for process in alive:
            process.kill()
        return left

    def log_tail(self, lines: int = 60) -> str:
        """The end of the supervisor's log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def shell(self, code: str, seconds: float = 120) -> str:
        """What ``code`` prints in a Django shell of the installation, within so many seconds."""
        command = [sys.executable, str(ROOT / "manage.py"), "shell", "--no-imports", "--command", code]
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, timeout=seconds)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def processes(self) -> list[psutil.Process]:
        """Everything that the installation runs at the moment."""
        return list(psutil.Process(self._process.pid).children(recursive=True))

    def process(self, title: str) -> psutil.Process:
        """The first process of the installation whose command line contains ``title``."""
        family = self.processes()
        found = [process for process in family if title in _command_line(process)]
        assert found, f"no process {title!r} among {[_command_line(process)[:80] for process in family]}"
        return found[0]

    def pids(self, title: str) -> set[int]:
        """Those of all processes of the installation whose command lines contain ``title``."""
        return {process.pid for process in self.processes() if title in _command_line(process)}

    def kill(self, title: str) -> int:
        """``kill -9`` that process. Returns its pid."""
        victim = self.process(title)
        victim.send_signal(signal.SIGKILL)
        return victim.pid

    def _is_up(self) -> bool:
        assert self._process.poll() is None, f"the supervisor ended:\n{self.log_tail()}"
        return "Dressage is running" in self.log.read_text(errors="replace")


class Api:
    """A browser's view of the REST API: session cookie and CSRF token."""

    def __init__(self, url: str) -> None:
        # A connection that has rested may be closed by the server in the moment in which it is used again.
        fresh = httpx.Limits(max_keepalive_connections=0)
        self._client = httpx.Client(base_url=f"{url}/api/v1", timeout=60, limits=fresh)

    def sign_in(self, email: str, password: str) -> None:
        """Open a session."""
        self.get("/session")
        self.post("/session", {"email": email, "password": password})

    def get(self, path: str, **params: Any) -> Any:
        """The JSON of a GET, which must succeed."""
        return self._checked(self._client.get(path, params=params))

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        """The JSON of a POST, which must succeed."""
        token = self._client.cookies.get("csrftoken") or ""
        return self._checked(self._client.post(path, json=body or {}, headers={"X-CSRFToken": token, **headers}))

    def patch(self, path: str, body: Any, **headers: str) -> Any:
        """The JSON of a PATCH, which must succeed."""
        token = self._client.cookies.get("csrftoken") or ""
        return self._checked(self._client.patch(path, json=body, headers={"X-CSRFToken": token, **headers}))

    def put(self, path: str, body: Any) -> Any:
        """The JSON of a PUT, which must succeed."""
        token = self._client.cookies.get("csrftoken") or ""
        return self._checked(self._client.put(path, json=body, headers={"X-CSRFToken": token}))

    def upload(self, name: str, rows: Sequence[Mapping[str, Any]]) -> Any:
        """A new dataset of rows, which must be made."""
        file = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
        token = self._client.cookies.get("csrftoken") or ""
        files = {"file": ("rows.jsonl", file)}
        headers = {"X-CSRFToken": token}
        return self._checked(self._client.post("/datasets", data={"name": name}, files=files, headers=headers))

    def delete(self, path: str) -> None:
        """A DELETE, which must succeed."""
        token = self._client.cookies.get("csrftoken") or ""
        self._checked(self._client.delete(path, headers={"X-CSRFToken": token}))

    @staticmethod
    def _checked(response: httpx.Response) -> Any:
        assert response.is_success, f"{response.request.method} {response.url}: {response.status_code} {response.text}"
        return response.json() if response.content else None


def end_with_parent() -> None:
    """For a child before its program: it is told to end where its parent, killed, cannot tell it any more."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def wait_until(
    condition: Callable[[], object], seconds: float, explain: Callable[[], str] = lambda: "", every: float = 0.1
) -> None:
    """Poll until ``condition`` is true; fail with the explanation after ``seconds``."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"still not so after {seconds} s. {explain()}")
        time.sleep(every)


def _command_line(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return ""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

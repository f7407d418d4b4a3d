"""Runs the proof: once outside of the namespace, which it makes, and once inside."""

import argparse
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

SITE = "http://127.0.0.1:8600"
EMAIL, PASSWORD = "admin@example.com", secrets.token_urlsafe(16)
INSIDE = "--inside"
PATIENCE_S = 1200.0


def outside(archive: Path) -> int:
    """Unpack the archive and go into a namespace; its exit status."""
    with tempfile.TemporaryDirectory(prefix="dressage-offline-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # the embedded PostgreSQL of root belongs to another user
        subprocess.run(["tar", "--extract", "--file", str(archive), "--directory", name], check=True)
        [unpacked] = folder.iterdir()
        (folder / "home").mkdir()
        ways = ["--net"] if os.geteuid() == 0 else ["--user", "--map-root-user", "--net"]
        inside = [sys.executable, str(Path(__file__).resolve()), INSIDE, str(unpacked)]
        # Nothing of this shell goes along: no settings of indexes and proxies, and no environment of Python.
        python = str(Path(sys.base_prefix) / "bin" / "python3.11")
        path = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
        environment = {"HOME": str(folder / "home"), "PATH": path, "PYTHON": python}
        return subprocess.run(["unshare", *ways, *inside], env=environment, cwd="/").returncode


def inside(unpacked: Path) -> int:
    """Start the demo without a network, sign in, and wait until its run has learned."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    assert [line.split(":")[1].strip() for line in _says("ip", "-oneline", "link")] == ["lo"]
    assert _says("ip", "route") == [], "there is a way out"
    begun = time.monotonic()
    environment = {**os.environ, "DRESSAGE_ADMIN_EMAIL": EMAIL, "DRESSAGE_ADMIN_PASSWORD": PASSWORD}
    log = unpacked / "demo.log"
    demo = subprocess.Popen(
        ["make", "demo"],
        cwd=unpacked,
        env=environment,
        stdout=log.open("wb"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        browser = Browser()
        _wait(demo, log, lambda: browser.get("/health/ready")["status"] == "ready", "ready", begun)
        _wait(demo, log, browser.sign_in, "signed in", begun)
        _wait(demo, log, lambda: (browser.run().get("step") or 0) >= 1, "the demo's run has learned a step", begun)
        print("its run:", {key: browser.run()[key] for key in ("name", "state", "step")})
        doctor = [str(unpacked / ".venv" / "bin" / "python"), "manage.py", "doctor"]
        print("doctor:", subprocess.run(doctor, cwd=unpacked, env=environment).returncode)
    finally:
        os.killpg(demo.pid, signal.SIGTERM)
        demo.wait(timeout=90)
    return 0


class Browser:
    """What a browser keeps: cookies, and the token against forged requests."""

    def __init__(self) -> None:
        self._cookies = CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self._cookies))

    def get(self, path: str) -> Any:
        """The JSON at the address."""
        with self._opener.open(f"{SITE}{path}", timeout=20) as answer:
            return json.load(answer)

    def sign_in(self) -> bool:
        """Whether the first administrator, whom the demo makes, is let in."""
        self.get("/api/v1/session")
        token = next(cookie.value for cookie in self._cookies if cookie.name == "csrftoken")
        body = json.dumps({"email": EMAIL, "password": PASSWORD}).encode()
        headers = {"Content-Type": "application/json", "X-CSRFToken": str(token)}
        request = urllib.request.Request(f"{SITE}/api/v1/session", body, headers)
        with self._opener.open(request, timeout=20) as answer:
            return bool(answer.status == 200)

    def run(self) -> dict[str, Any]:
        """The first run; empty before there is one."""
        found: list[dict[str, Any]] = self.get("/api/v1/runs")["data"]
        return found[0] if found else {}


def _wait(demo: "subprocess.Popen[bytes]", log: Path, condition: Callable[[], bool], what: str, begun: float) -> None:
    """Wait until it holds, and say after how long. Raises SystemExit with the end of the log where it does not."""
    while True:
        try:
            if condition():
                break
        except (OSError, ValueError, urllib.error.HTTPError):
            pass  # nobody listens yet, or the administrator is not made yet
        if demo.poll() is not None or time.monotonic() - begun > PATIENCE_S:
            raise SystemExit(f"not {what}:\n" + "\n".join(log.read_text(errors="replace").splitlines()[-30:]))
        time.sleep(2)
    print(f"{what} after {time.monotonic() - begun:.0f} s", flush=True)


def _says(*command: str) -> list[str]:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def main() -> int:
    """Run the part that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.offline", description="Prove a bundle without a network.")
    parser.add_argument("archive", type=Path, help="archive that make bundle has made")
    parser.add_argument(INSIDE, action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        print("unshare or ip is not installed: no network can be taken away")
        return 1
    return inside(given.archive) if given.inside else outside(given.archive.resolve())


if __name__ == "__main__":
    sys.exit(main())

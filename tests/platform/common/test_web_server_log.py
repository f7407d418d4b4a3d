"""What the web server itself logs: its faults, in our lines, and no request, whose address may hold a secret."""

import os
import re
import subprocess
import sys
from pathlib import Path

import httpx

from dressage.config import ROOT
from dressage.supervisor.ready import wait_for_web
from tests.support.installation import end_with_parent, free_port


def test_a_started_server_logs_no_request_and_its_own_warnings_as_ours(tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "dressage.asgi:application", "--port", str(port)]
    environment = {
        **os.environ,
        "DRESSAGE_LOG_FORMAT": "json",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "platform"), str(ROOT)]),
    }
    log = tmp_path / "log"
    web = subprocess.Popen(
        [*command, "--no-access-log", "--log-level", "warning"],
        env=environment,
        stdout=log.open("wb"),
        stderr=subprocess.STDOUT,
        preexec_fn=end_with_parent,
    )
    try:
        wait_for_web(("127.0.0.1", port))
        with httpx.Client(trust_env=False) as client:
            assert client.get(f"http://127.0.0.1:{port}/invitations/secret-of-an-invitation").status_code in (200, 503)
            with httpx.stream("GET", f"http://127.0.0.1:{port}/health/live", headers={"Host": "evil.example"}) as live:
                assert live.status_code == 200
            assert client.get(f"http://127.0.0.1:{port}/runs", headers={"Host": "evil.example"}).status_code == 400
    finally:
        web.terminate()
        web.wait(timeout=30)
    lines = log.read_text().splitlines()
    assert [re.findall(r'"logger": "([\w.]+)"', line) for line in lines] == [["django.security.DisallowedHost"]], lines

"""Ctrl-C: a server goes on until everything that uses it has ended."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.about import INSTALLATION
from tests.support.installation import ROOT, wait_until

PROCESS = """
import signal, sys, time
name, log, takes = sys.argv[1], sys.argv[2], float(sys.argv[3])
def say(what):
    with open(log, "a") as file:
        file.write(f"{name} {what}\\n")
def stop(*_):
    say("told")
    time.sleep(takes)
    say("ended")
    sys.exit()
signal.signal(signal.SIGTERM, stop)
say("up")
while True:
    signal.pause()
"""
SUPERVISOR = """
import sys
from pathlib import Path
from types import SimpleNamespace
from dressage.supervisor.arbiter import end, make_arbiter
from dressage.supervisor.processes import Process
home, script, log = map(Path, sys.argv[1:])
def process(name, takes, **more):
    return Process(name, [sys.executable, str(script), name, str(log), takes], **more)
config = SimpleNamespace(home=home, resolved_database_url="", resolved_redis_url="", resolved_log_format="plain")
family = []
arbiter = make_arbiter(config, [process("server", "0", is_server=True), process("user", "1")], {}, family)
try:
    arbiter.start()
finally:
    arbiter.stop()
    end(family)
"""


@pytest.mark.expensive(3, "starts processes of the platform", about=INSTALLATION)
def test_servers_end_last(tmp_path: Path) -> None:
    script, log = tmp_path / "process.py", tmp_path / "log"
    script.write_text(PROCESS)
    log.touch()
    command = [sys.executable, "-c", SUPERVISOR, str(tmp_path), str(script), str(log)]
    supervisor = subprocess.Popen(command, cwd=ROOT, env={"PYTHONPATH": f"{ROOT / 'platform'}:{ROOT}"})
    try:
        wait_until(lambda: log.read_text().count(" up\n") == 2, 60, log.read_text)
        supervisor.send_signal(signal.SIGINT)
        assert supervisor.wait(timeout=60) == 0
    finally:
        supervisor.kill()
    assert log.read_text().splitlines()[2:] == ["user told", "user ended", "server told", "server ended"]

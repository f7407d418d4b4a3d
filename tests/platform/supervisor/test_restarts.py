"""Processes that die and are started anew: each is in the supervisor's list, and Ctrl-C ends all of them."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.support.about import INSTALLATION
from tests.support.installation import ROOT, wait_until

PROCESS = """
import os, subprocess, sys, time
name, log = sys.argv[1:]
# It holds the pipes of its parent after that has died.
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open(log, "a") as file:
    file.write(f"{name} {os.getpid()} {child.pid}\\n")
print(f"{name} is up", flush=True)
time.sleep(600)
"""
SUPERVISOR = """
import os, signal, sys
from pathlib import Path
from types import SimpleNamespace
from dressage.supervisor.arbiter import end, make_arbiter
from dressage.supervisor.processes import Process
home, script, log = map(Path, sys.argv[1:4])
slow = float(sys.argv[4])
spare = os.open("/dev/null", os.O_RDONLY)
signal.signal(signal.SIGUSR1, lambda *_: os.close(spare))
def process(name):
    return Process(name, [sys.executable, str(script), name, str(log)])
def before():
    # Ctrl-C comes while circus starts its processes.
    if slow:
        os.kill(os.getpid(), signal.SIGINT)
config = SimpleNamespace(home=home, resolved_database_url="", resolved_redis_url="", resolved_log_format="plain")
family = []
arbiter = make_arbiter(config, [process("one"), process("other")], {"one": before}, family)
try:
    arbiter.start()
finally:
    arbiter.stop()
    end(family)
"""


class _Supervised:
    def __init__(self, folder: Path, slow: bool = False) -> None:
        script, self.log = folder / "process.py", folder / "log"
        script.write_text(PROCESS)
        self.log.touch()
        command = [sys.executable, "-c", SUPERVISOR, str(folder), str(script), str(self.log), str(int(slow))]
        self.output = folder / "output"
        self.supervisor = subprocess.Popen(
            command, cwd=ROOT, env={"PYTHONPATH": f"{ROOT / 'platform'}:{ROOT}"}, stdout=self.output.open("wb")
        )

    def started(self, name: str) -> list[int]:
        """Pids of all processes of that name that ever began, oldest first."""
        return [int(line.split()[1]) for line in self._lines() if line.startswith(f"{name} ")]

    def restart(self, name: str) -> None:
        """``kill -9``, and wait for the next one."""
        before = self.started(name)
        psutil.Process(before[-1]).kill()
        wait_until(lambda: len(self.started(name)) > len(before), 60, self.log.read_text)

    def stop(self) -> int:
        """Ctrl-C. Returns the exit code."""
        self.supervisor.send_signal(signal.SIGINT)
        return self.supervisor.wait(timeout=60)

    def clear(self) -> None:
        self.supervisor.kill()
        self.supervisor.wait()
        for pid in (int(pid) for line in self._lines() for pid in line.split()[1:]):
            if psutil.pid_exists(pid):
                psutil.Process(pid).kill()

    def _lines(self) -> list[str]:
        return [line for line in self.log.read_text().splitlines(keepends=True) if line.endswith("\n")]


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[_Supervised]:
    found = _Supervised(tmp_path)
    yield found
    found.clear()


@pytest.mark.expensive(4, "starts processes of the platform", about=INSTALLATION)
def test_a_process_that_gets_the_pipe_numbers_of_another_s_former_one_is_stopped_too(supervised: _Supervised) -> None:
    wait_until(lambda: supervised.started("one") and supervised.started("other"), 60, supervised.log.read_text)
    # A number below those of the pipes becomes free, so each restart shifts them by one.
    supervised.supervisor.send_signal(signal.SIGUSR1)
    supervised.restart("one")
    supervised.restart("other")
    assert supervised.stop() == 0
    left = [pid for name in ("one", "other") for pid in supervised.started(name) if psutil.pid_exists(pid)]
    assert left == []
    assert len(supervised.started("one")) == len(supervised.started("other")) == 2
    assert supervised.output.read_text().count("is up") == 4, "what each of them has said"


@pytest.mark.expensive(3, "starts processes of the platform", about=INSTALLATION)
def test_ctrl_c_in_the_middle_of_a_start_is_not_forgotten(tmp_path: Path) -> None:
    supervised = _Supervised(tmp_path, slow=True)
    try:
        assert supervised.supervisor.wait(timeout=60) == 0
        assert supervised.started("other") == [], "nothing more is started"
    finally:
        supervised.clear()

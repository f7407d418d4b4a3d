"""The keeper and the supervisor: whichever is killed, nothing is left; and what is in the way of a start is named."""

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from django.core.management.base import CommandError

from dressage.supervisor.keeper import HOME_VARIABLE, end_leftovers
from dressage.supervisor.taken import lock_home, refuse_taken_port
from tests.support.installation import wait_until
from tests.support.packages import ROOT

SUPERVISOR = textwrap.dedent("""
    import json, os, signal, subprocess, sys, time
    from dressage.supervisor.keeper import keep
    keep()
    wait = [sys.executable, "-c", "import time; time.sleep(600)"]
    plain = subprocess.Popen(wait)
    apart = subprocess.Popen(wait, start_new_session=True)
    # Its parent ends at once: an orphan in a session of its own.
    nested = subprocess.run([sys.executable, "-c", "import subprocess, sys; print(subprocess.Popen("
        "[sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True, stdout=-3, stderr=-3).pid)"],
        capture_output=True, text=True)
    family = [plain, apart]
    def stop(*_):
        for one in family:
            one.terminate(); one.wait()
        os.kill(int(nested.stdout), signal.SIGTERM)
        sys.exit(0)
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background begins with it ignored
    print(json.dumps([os.getpid(), *(one.pid for one in family), int(nested.stdout)]), flush=True)
    while True:
        time.sleep(1)
""")


@pytest.fixture
def start() -> Callable[..., tuple[subprocess.Popen[str], list[psutil.Process]]]:
    """``start(home)``: a keeper, and its supervisor with all that it has started."""

    def started(home: Path | None = None) -> tuple[subprocess.Popen[str], list[psutil.Process]]:
        path = os.pathsep.join(map(str, (ROOT / "platform", ROOT)))
        keeper = subprocess.Popen(
            [sys.executable, "-c", SUPERVISOR],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path, **({HOME_VARIABLE: str(home)} if home else {})},
        )
        assert keeper.stdout
        return keeper, [psutil.Process(pid) for pid in json.loads(keeper.stdout.readline())]

    return started


def gone(family: list[psutil.Process]) -> None:
    wait_until(lambda: not any(one.is_running() and one.status() != "zombie" for one in family), 60)


def test_the_supervisor_stops_in_order_when_its_keeper_is_killed(start: Callable[..., tuple]) -> None:
    keeper, family = start()
    os.kill(keeper.pid, signal.SIGKILL)
    gone(family)


def test_the_keeper_ends_all_when_the_supervisor_is_killed(start: Callable[..., tuple]) -> None:
    keeper, family = start()
    family[0].kill()
    assert keeper.wait(60) == 1
    gone(family)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_the_keeper_reaches_the_supervisor(start: Callable[..., tuple], number: int) -> None:
    keeper, family = start()
    keeper.send_signal(number)
    # Python's own handler of an interrupt ends this supervisor with an error; what it has left is ended too.
    assert keeper.wait(60) == {signal.SIGTERM: 0, signal.SIGINT: 1}[signal.Signals(number)]
    gone(family)


def test_what_two_kills_have_left_is_ended_by_the_next_start(start: Callable[..., tuple], tmp_path: Path) -> None:
    keeper, family = start(home=tmp_path.resolve())
    other, others = start(home=tmp_path.resolve() / "other")
    family[0].suspend()  # it cannot react to the end of its keeper
    os.kill(keeper.pid, signal.SIGKILL)
    family[0].kill()
    keeper.wait()
    assert end_leftovers(tmp_path) == len(family) - 1
    gone(family)
    assert all(one.is_running() for one in others)
    other.terminate()
    assert other.wait(60) == 0
    assert end_leftovers(tmp_path) == 0


def test_the_lock_names_who_holds_it(tmp_path: Path) -> None:
    with lock_home(tmp_path, os.getpid()), pytest.raises(CommandError, match=rf"process {os.getpid()} \(.*pytest"):
        lock_home(tmp_path, 1)
    lock_home(tmp_path, 1).close()


def test_a_start_waits_for_an_earlier_one_whose_keeper_is_gone(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    with lock_home(tmp_path, ended.pid), pytest.raises(CommandError, match="already running in"):
        lock_home(tmp_path, 1, stopping_s=0.0)
    assert (tmp_path / "up.lock").read_text() == f"{ended.pid}\n"


def test_a_taken_port_names_its_holder() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        port = held.getsockname()[1]
        with pytest.raises(CommandError) as refused:
            refuse_taken_port("127.0.0.1", port)
    assert f"port {port} on 127.0.0.1 is taken by process {os.getpid()} (" in str(refused.value)
    refuse_taken_port("127.0.0.1", port)

"""The end of all processes of a cluster of tests, the ones that cannot be killed among them."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.support.own_network import MARK, end_all, marked


def sleeping(mark: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, MARK: mark}
    started = subprocess.Popen(
        [sys.executable, "-c", "print(flush=True); input()"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert started.stdout is not None and started.stdout.readline() == b"\n"
    return started


def test_all_of_a_mark_end_and_others_stay(tmp_path: Path) -> None:
    own, other = sleeping(f"{tmp_path}/own/1"), sleeping(f"{tmp_path}/other/1")
    end_all(f"{tmp_path}/own")
    assert [process.pid for process in marked(str(tmp_path))] == [other.pid] and other.poll() is None
    end_all(f"{tmp_path}/other")
    assert marked(str(tmp_path)) == []
    for process in (own, other):
        process.wait(timeout=30)


def test_a_process_that_cannot_be_killed_is_named_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = sleeping(str(tmp_path))
    with monkeypatch.context() as patched:
        patched.setattr(psutil.Process, "kill", lambda process: None)
        with pytest.raises(TimeoutError, match=f"could not be killed within 0.1 s: {held.pid}$"):
            end_all(str(tmp_path), within_s=0.1)
    end_all(str(tmp_path))
    held.wait(timeout=30)

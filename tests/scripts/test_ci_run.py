"""The command of continuous integration: it fails when anything in it fails, and leaves nothing behind."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from scripts.lint.runner import ROOT
from tests.support.installation import wait_until

MAKE = """#!/bin/bash
for goal; do :; done
echo "$goal begins" >> "$LOG"
eval "${!goal}"
"""
HANGS = "sleep 600 & echo $! > pid; touch begun; wait"


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Path]:
    """A checkout in which ``make`` runs the shell code that is in the variable of its goal's name."""
    for folder in (".ci", "scripts", "bin"):
        (tmp_path / folder).mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    for name, code in (("bin/make", MAKE), ("bin/chromium", "#!/bin/sh"), ("scripts/setup.sh", "#!/bin/bash\n$SETUP")):
        (tmp_path / name).write_text(code)
        (tmp_path / name).chmod(0o755)
    yield tmp_path
    if (tmp_path / "pid").exists() and not has_ended(tmp_path):
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def start(tree: Path, lint: str, test: str, setup: str = "true") -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        "PATH": f"{tree / 'bin'}:{os.environ['PATH']}",
        "LOG": str(tree / "log"),
        "SETUP": setup,
        "lint": lint,
        "test": test,
    }
    return subprocess.Popen(
        [tree / ".ci" / "run"], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def has_ended(tree: Path) -> bool:
    """Whether what ``HANGS`` has started runs no more."""
    try:
        return psutil.Process(int((tree / "pid").read_text())).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize(
    ("lint", "test", "code"), [("echo told", "true", 0), ("echo told; exit 3", "true", 1), ("echo told", "exit 4", 4)]
)
def test_both_are_heard(tree: Path, lint: str, test: str, code: int) -> None:
    run = start(tree, f"touch begun; {lint}", f"until [ -e begun ]; do sleep 0.02; done; {test}")
    said, _ = run.communicate()
    assert run.returncode == code
    assert code == 4 or "told" in said
    assert ("The static checks have failed" in said) is (code == 1)


def test_nothing_begins_after_a_set_up_that_failed(tree: Path) -> None:
    run = start(tree, "true", "true", setup="exit 5")
    run.communicate()
    assert run.returncode == 5
    assert not (tree / "log").exists()


def test_lint_ends_with_tests_that_end_early(tree: Path) -> None:
    run = start(tree, HANGS, "until [ -e begun ]; do sleep 0.02; done; exit 4")
    run.communicate()  # also until nobody holds the output any more
    assert run.returncode == 4
    wait_until(lambda: has_ended(tree), seconds=20, every=0.02)


def test_lint_ends_with_a_signal(tree: Path) -> None:
    run = start(tree, HANGS, "until [ -e go ]; do sleep 0.02; done")
    try:
        wait_until((tree / "begun").exists, seconds=20, every=0.02)
        run.send_signal(signal.SIGTERM)
        wait_until(lambda: has_ended(tree), seconds=20, every=0.02)
    finally:
        (tree / "go").touch()
    run.communicate()
    assert run.returncode != 0

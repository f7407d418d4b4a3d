"""Leases that tests in several processes hold on what the machine has once.

Two live runs never overlap: a test marked ``live`` waits until no other is running. The wait comes before the test's
time-out begins.
"""

import fcntl
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

FOLDER = "DRESSAGE_TEST_LEASES"
"""Environment variable with the folder of the lock files, which processes of one suite share."""


def share_folder() -> None:
    """Make the folder once, in the first process of a suite; those that it starts inherit the variable."""
    if FOLDER not in os.environ:
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="dressage-leases-")


@contextmanager
def lease(name: str) -> Generator[None, None, None]:
    """Be the only holder of ``name``. The kernel takes the lease back from a process that ends."""
    with (Path(os.environ[FOLDER]) / name).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Hold the lease of live tests around the whole test, its set-up and teardown included."""
    if item.get_closest_marker("live") is None:
        return (yield)
    with lease("live"):
        return (yield)

"""One pool of the jail for all tests of it."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import SimpleNamespace

import pytest

from worker.sandbox import job_run, usage
from worker.sandbox.pool import JailPool

SHARE = 20
"""On the slow machine a program gets one of so many parts of a processor."""


@pytest.fixture(scope="session")
def jail() -> Iterator[JailPool]:
    pool = JailPool()
    yield pool
    pool.close()


@pytest.fixture
def slow_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the supervisor sees a machine that others use: its clock runs ahead, and the kernel says that the program
    waited for a processor whenever it did not compute."""
    first: dict[tuple[int, ...], float] = {}
    measure = usage.measure

    def clock() -> float:
        return SHARE * time.monotonic()

    def measured(processes: Iterable[int]) -> usage.Usage:
        key = tuple(processes)
        used, began = measure(key), first.setdefault(key, clock())
        return replace(used, waited_s=max(clock() - began - used.cpu_s, 0.0))

    monkeypatch.setattr(job_run, "time", SimpleNamespace(monotonic=clock))
    monkeypatch.setattr(job_run.usage, "measure", measured)
    monkeypatch.setattr(job_run, "_SETUP_S", SHARE * job_run._SETUP_S)
    monkeypatch.setattr(job_run, "_PATIENCE_S", SHARE * job_run._PATIENCE_S)

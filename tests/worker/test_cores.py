"""Cores go to those who work: all to one alone, shares by load to several."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from worker.cluster import cores as module
from worker.cluster.cores import CoreShare, usable_cores
from worker.learner.ranks import LearnerWorker
from worker.rollout.worker import RolloutWorker


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


Make = Callable[..., list[CoreShare]]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def make(tmp_path: Path, clock: Clock) -> Make:
    def shares(count: int, cores: int) -> list[CoreShare]:
        board = str(tmp_path / "board")
        living = (os.getppid(), *range(1, 99)) if os.getppid() > 99 else range(1, 99)
        processes = [number for number in living if module._is_alive(number)][:count]
        assert len(processes) == count, "this machine has too few processes to play with"
        return [CoreShare(board, lambda _: None, cores=cores, clock=clock, process=number) for number in processes]

    return shares


def test_who_works_alone_has_all_cores_and_shares_them_with_who_comes(make: Make) -> None:
    engine, learner = make(2, 2)
    engine.work()
    assert engine.threads == 2
    learner.work()
    engine.work()
    assert (engine.threads, learner.threads) == (1, 1)
    engine.rest()
    learner.work()
    assert learner.threads == 2


@pytest.mark.parametrize(
    ("work", "expected"), [((30.0, 10.0), (12, 4)), ((10.0, 30.0), (4, 12)), ((20.0, 20.0), (8, 8))]
)
def test_shares_follow_the_work_of_a_step(
    make: Make, clock: Clock, work: tuple[float, float], expected: tuple[int, int]
) -> None:
    """Both work at once, and each waits for the other at the step's end: in the best split nobody has to."""
    pair = make(2, 16)
    for _ in range(60):
        left = list(work)
        while max(left) > 0:
            for place, share in enumerate(pair):
                if left[place] > 0:
                    share.work()
                else:
                    share.rest()
            together = [share.threads for share, rest in zip(pair, left, strict=True) if rest > 0]
            if len(together) == 2:
                shares = together
            left = [rest - 0.05 * share.threads for rest, share in zip(left, pair, strict=True)]
            clock.now += 0.05
    assert sum(shares) <= 17
    assert all(abs(share - wanted) <= 2 for share, wanted in zip(shares, expected, strict=True)), shares


def test_everybody_has_a_core_at_least(make: Make, clock: Clock) -> None:
    shares = make(5, 3)
    for share in shares:
        share.work()
        clock.now += 1.0
    for share in shares:
        share.work()
    assert [share.threads for share in shares] == [1] * 5


def test_a_process_that_died_at_work_gives_its_cores_and_its_line_back(tmp_path: Path, make: Make) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    dead = CoreShare(str(tmp_path / "board"), lambda _: None, cores=4, process=gone.pid)
    dead.work()
    (engine,) = make(1, 4)
    engine.work()
    assert (engine.threads, engine._line) == (4, dead._line)


def test_several_runs_share_one_host(make: Make) -> None:
    first, second, third = make(3, 6)
    for share in (first, second, third, first, second, third):
        share.work()
    assert [first.threads, second.threads, third.threads] == [2, 2, 2]


def test_a_full_board_leaves_one_thread(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LINES", 1)
    first, late = make(2, 4)
    first.work()
    late.work()
    assert (first.threads, late.threads) == (4, 1)


@pytest.mark.parametrize(
    ("quota", "expected"), [("200000 100000", 2), ("50000 100000", 1), ("max 100000", 64), ("?", 64)]
)
def test_a_containers_quota_bounds_the_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quota: str, expected: int
) -> None:
    (tmp_path / "cpu.max").write_text(quota)
    monkeypatch.setattr(module, "_QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)))
    assert usable_cores() == expected


def test_threads_are_set_only_where_they_change(tmp_path: Path) -> None:
    told: list[int] = []
    share = CoreShare(str(tmp_path / "board"), told.append, cores=4)
    for _ in range(3):
        with share.working():
            pass
    assert told == [1, 4]


def test_an_engine_takes_part_while_it_generates(make: Make) -> None:
    engine, learner = make(2, 4)
    worker: Any = RolloutWorker()
    worker._cores = engine
    worker._engine = SimpleNamespace(step=lambda: [], stats=lambda: SimpleNamespace(kv_usage=0.0, running=0))
    worker._step()
    learner.work()
    assert (engine.threads, learner.threads) == (4, 2)
    worker._step()
    assert engine.threads == 2
    with worker._turn:
        worker._rest()
    learner.work()
    assert learner.threads == 4


def test_a_rank_takes_part_in_what_it_computes(make: Make) -> None:
    engine, rank = make(2, 4)
    worker: Any = object.__new__(LearnerWorker)
    seen: list[int] = []
    worker.cores, worker._learner = rank, SimpleNamespace(finish=lambda: seen.append(rank.threads), version=3)
    assert worker.finish() == (None, 3)
    engine.work()
    assert (seen, engine.threads) == ([4], 4)
    worker.cores = None
    assert worker.finish() == (None, 3)

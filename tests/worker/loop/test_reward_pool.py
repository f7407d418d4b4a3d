"""Reward workers that die: the fresh one has all its time to come up, and none of it counts as scoring."""

import os
from pathlib import Path
from typing import Any

import pytest
import ray

from trainer_core.rewards.score import Score
from worker.cluster import actors as ray_cluster
from worker.engine import Completion
from worker.messages.chunk import Chunk, pack
from worker.rewards.pool import SPARE_S, START_S, RewardPool
from worker.rewards.worker import Scored
from worker.scoring.pure import longest_s

pytestmark = pytest.mark.expensive(
    12,
    "starts two actors, one after the other",
    about=("worker/cluster", "worker/messages", "worker/rewards", "worker/scoring"),
)


class Mortal:
    """Of generation 0 it dies of its first chunk; a later one takes long to come up, or cannot."""

    def __init__(self, generation: int, failure: str, gate: Path) -> None:
        self._generation, self._failure, self._gate = generation, failure, gate

    def start(self) -> float:
        if self._generation and self._failure:
            raise RuntimeError(self._failure)
        if self._generation:
            os.open(self._gate, os.O_RDONLY)  # until the other end is opened
        return 0.0

    def score(self, chunk: Chunk, *_: Any) -> Scored:
        if not self._generation:
            os._exit(1)
        return Scored(["x"] * len(chunk), [Score(reward=1.0)] * len(chunk), 0.0)


def made(folder: Path, told: list[str], failure: str = "") -> RewardPool:
    os.mkfifo(folder / "gate")

    def spawn(index: int, generation: int, versions: Any) -> Any:
        options = ray_cluster.actor_options(None)
        return ray.remote(Mortal).options(**options).remote(generation, failure, folder / "gate")

    return RewardPool(spawn, {}, 1, 0.1, lambda title, message: told.append(title))


@pytest.fixture
def chunk() -> Chunk:
    return pack([(0, [Completion("0", (1,), [2], [-1.0], [0], [True], "stop", 0, False, 0.0, 1.0)])])


def test_a_fresh_worker_may_take_its_time_to_come_up(
    cluster: None, tmp_path: Path, chunk: Chunk, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    waited: list[tuple[str, float | None]] = []
    pool = made(tmp_path, told)
    pending = pool.submit(chunk, [{}], [8], [["r@1"]])
    get = ray.get

    def waits(refs: Any, timeout: float | None = None) -> Any:
        starts = refs is pool.started[0]
        waited.append(("start" if starts else "scores" if refs is pending.answer else "process", timeout))
        if told and starts:
            with pytest.raises(ray.exceptions.GetTimeoutError):
                get(refs, timeout=0)  # it is still coming up
            os.close(os.open(tmp_path / "gate", os.O_WRONLY))
        return get(refs, timeout=timeout)

    monkeypatch.setattr("worker.rewards.pool.ray.get", waits)
    try:
        scored = pool.result(pending)
    finally:
        pool.close()
    assert [score.reward for score in scored.scores] == [1.0]
    assert told == ["A reward worker was replaced"]
    # Only when it is up does the time begin that a chunk may take.
    assert waited[-3:] == [("process", START_S), ("start", START_S), ("scores", longest_s(0.1) + SPARE_S)]


def test_a_fresh_worker_that_cannot_come_up_says_why(cluster: None, tmp_path: Path, chunk: Chunk) -> None:
    told: list[str] = []
    pool = made(tmp_path, told, failure="no strong jail")
    try:
        with pytest.raises(ray.exceptions.RayTaskError, match="no strong jail"):
            pool.result(pool.submit(chunk, [{}], [8], [["r@1"]]))
    finally:
        pool.close()

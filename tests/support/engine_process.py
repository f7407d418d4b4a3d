"""The process of a rollout worker, kept for the engines of one run after another."""

from __future__ import annotations

from typing import Any

import ray

from tests.support.expert_groups import make_group_of_experts
from worker.engine import EngineConfig, EngineError
from worker.rollout.worker import RolloutWorker


class EngineProcess:
    """A rollout worker's process that outlives its engines: ``start`` ends the one before and builds another.

    The methods are those of ``RolloutWorker``, and each goes to the present one.
    """

    def __init__(self) -> None:
        self.worker: RolloutWorker | None = None

    def start(self, config: EngineConfig) -> float:
        if self.worker is not None:
            retire(self.worker)
            make_group_of_experts()
        self.worker = RolloutWorker()
        return self.worker.start(config)

    def submit(self, *arguments: Any) -> Any:
        return self._present.submit(*arguments)

    def update(self, *arguments: Any) -> Any:
        return self._present.update(*arguments)

    def sample(self, *arguments: Any) -> Any:
        return self._present.sample(*arguments)

    def score(self, *arguments: Any) -> Any:
        return self._present.score(*arguments)

    def peak(self, *arguments: Any) -> Any:
        return self._present.peak(*arguments)

    def park(self) -> Any:
        return self._present.park()

    @ray.method(concurrency_group="collect")
    def collect(self, *arguments: Any) -> Any:
        return self._present.collect(*arguments)

    @property
    def _present(self) -> RolloutWorker:
        assert self.worker is not None
        return self.worker


def retire(worker: RolloutWorker) -> None:
    """End a worker's engine, and whoever waits for what it finishes. Its thread rests for good."""
    if worker._failure is None:
        worker._enqueue(worker._engine.close, True).result()
        worker._fail(EngineError("another engine has taken its place"))
        del worker._engine


def engine_process_class() -> Any:
    """The Ray class: its threads are those of a rollout worker's."""
    return ray.remote(concurrency_groups={"collect": 1})(EngineProcess)

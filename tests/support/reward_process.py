"""Processes of reward workers, kept for one run after another: each imports for three seconds."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import ray

from worker.rewards.worker import RewardConfig, RewardWorker


class RewardProcess:
    """A reward worker's process that outlives its run. Its methods go to the present worker."""

    def __init__(self) -> None:
        self._worker = RewardWorker()

    def renew(self) -> None:
        """End what the graders of the run before needed, and begin as a new process does."""
        benches = getattr(self._worker, "_benches", None)
        self._worker = RewardWorker()
        if benches is not None:
            benches._current.close()

    def configure(self, config: RewardConfig) -> None:
        self._worker.configure(config)

    def start(self) -> float:
        return self._worker.start()

    def equip(self, *arguments: Any) -> None:
        self._worker.equip(*arguments)

    def score(self, *arguments: Any) -> Any:
        return self._worker.score(*arguments)


class KeptRewards:
    """``ray`` as start-up and the pool of reward workers see it: processes are lent, and none is ended."""

    def __init__(self) -> None:
        self._free: list[Any] = []
        self._lent: list[Any] = []
        self._options: dict[str, Any] = {}

    def remote(self, *arguments: Any) -> Any:
        """First the class, then nothing: a reward worker that has not been configured."""
        if arguments:
            assert arguments == (RewardWorker,)
            return self
        if self._options.get("num_gpus"):
            return ray.remote(RewardWorker).options(**self._options).remote()
        if not self._free:
            self._free.append(ray.remote(RewardProcess).options(**self._options).remote())
        self._lent.append(self._free.pop())
        return self._lent[-1]

    def options(self, **given: Any) -> KeptRewards:
        self._options = {name: value for name, value in given.items() if name not in ("name", "namespace")}
        return self

    def kill(self, actor: Any, *, no_restart: bool) -> None:
        """Take a process back, unless it has died. A run closes its pool more than once."""
        if actor in self._lent:
            self._lent.remove(actor)
            with suppress(ray.exceptions.RayActorError):
                ray.get(actor.renew.remote())
                self._free.append(actor)
        elif actor not in self._free:
            ray.kill(actor, no_restart=no_restart)

    def end(self) -> None:
        for actor in [*self._free, *self._lent]:
            ray.kill(actor)

    def __getattr__(self, name: str) -> Any:
        return getattr(ray, name)

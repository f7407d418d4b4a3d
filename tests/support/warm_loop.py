"""The real loop, run after run, in processes of engine, learner and reward worker that are kept between the runs.

Everything is a run's own code: the controller's attendance, the link and its journal, start-up, the loop, the reward
workers. Only the processes are not ended with the run, because each imports for seconds: a run that needs another
engine gets it in the same process.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import ray

from tests.support.engine_process import engine_process_class
from tests.support.reward_process import KeptRewards
from tests.worker.loop.platform_double import PlatformDouble
from trainer_core.spec import RunSpec
from worker.cluster import actors as cluster
from worker.cluster.notify import Notify
from worker.engine import EngineConfig, KvOnUpdate
from worker.learner.ranks import LearnerWorker
from worker.learner.stage import Learned
from worker.learner.transport.object_store import ObjectStore
from worker.learner.weights import WeightHandle
from worker.loop.controller import RunController
from worker.loop.run import ActiveRun
from worker.loop.startup import ENGINE_CPUS, LEARNER_CPUS
from worker.messages.jobs import Collected
from worker.messages.probe import ProbeFigures
from worker.messages.ticket import Batch
from worker.rollout.router import Deliver, Router, _Slot

REWARDS: dict[str, dict[str, Any]] = {
    "calculation": {"components": [{"name": "correct", "weight": 1.0, "grader": {"type": "numeric"}}]},
    "calculation-format": {
        "components": [
            {"name": "correct", "weight": 1.0, "grader": {"type": "numeric"}},
            {"name": "format", "weight": 0.1, "grader": {"type": "format"}},
            {"name": "length", "weight": 0.1, "grader": {"type": "length_penalty", "free": 16, "full": 32}},
        ]
    },
}
"""The demo's, which recipes name."""


class KeptRouter(Router):
    """A router that outlives its run."""

    _serving = False
    _base: WeightHandle | None = None
    """The policy that every run starts from: the first weights that were sent."""
    _lent = 0.0
    """When the present run got it: what an engine did before is no part of that run's timeline."""

    def update(self, weights: WeightHandle, version: int, kv: KvOnUpdate, alone: bool) -> Future[ProbeFigures]:
        self._base = self._base or lasting(weights)
        return super().update(weights, version, kv, alone)

    def fits(self, config: EngineConfig) -> bool:
        """Whether a run may be lent this engine: an equal one that has served."""
        return self._base is not None and replace(config, seed=0) == replace(self._config, seed=0)

    def lend(self, config: EngineConfig, tolerance: float, batch: int, notify: Notify) -> KeptRouter:
        """For a run with the same engine, which starts with the base policy as a fresh one does."""
        assert self._base is not None
        self._tolerance, self._notify = tolerance, notify
        self.update(self._base, config.version, "recompute", True).result()
        self._lent = time.time()
        self._flush, self.started = max(1, batch // (4 * len(self._slots))), []
        self.floor, self.regenerated = None, 0
        return self

    def serve(self, deliver: Deliver, failed: Callable[[], None]) -> None:
        if self._serving:
            self._deliver, self._failed = deliver, failed
        else:
            super().serve(deliver, failed)
        self._serving = True

    def close(self) -> None:
        """The run is over: let go of what it still wants; the engine goes on."""
        self.park()
        with self._changed:
            assert self._changed.wait_for(lambda: not any(slot.held for slot in self._slots), 60.0)

    def end(self) -> None:
        """Leave the process to another router."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._updates.shutdown()

    def _receive(self, slot: _Slot, collected: Collected) -> None:
        collected = replace(collected, spans=tuple(span for span in collected.spans if span.start >= self._lent))
        with self._changed:  # ``close`` must not return between a group's leaving and its delivery
            super()._receive(slot, collected)
            self._changed.notify_all()


def lasting(weights: WeightHandle) -> WeightHandle:
    """The same version in Ray's store, where it stays though the learner goes on to others."""
    bundle = weights.open()
    packed = ObjectStore().pack(bundle.version, [bundle.unpacked()])
    return WeightHandle.of(replace(bundle, tensors=packed, transport=ObjectStore.name, base_key="", changes=()))


class KeptLearner:
    """``ray`` as the learner's module sees it: its actor is made once, and is not killed."""

    def __init__(self, gpus: float) -> None:
        options = cluster.actor_options(None, LEARNER_CPUS, gpus)
        self._actor = ray.remote(LearnerWorker).options(**options).remote(0, 1, 1, None)

    def remote(self, *arguments: Any) -> Any:
        """First the class, then the rank, the number of ranks and of threads, and its place among the cores."""
        if arguments[0] is LearnerWorker:
            return self
        assert arguments[:3] == (0, 1, 1)
        return self._actor

    def options(self, **_: Any) -> KeptLearner:
        return self

    def kill(self, actor: Any) -> None:
        """The actor serves the next run."""

    def end(self) -> None:
        ray.kill(self._actor)

    def __getattr__(self, name: str) -> Any:
        return getattr(ray, name)


class WarmLoop:
    """Use as a context manager within a Ray connection. ``run`` is called as often as one likes, one at a time."""

    def __init__(self, folder: Path, gpus: float = 0.0) -> None:
        """``folder`` is for runs; ``gpus`` are what engine and learner reserve each, as ``place`` says."""
        self._folder, self._gpus = folder, gpus
        self._engines: KeptRouter | None = None
        self._process: Any = None
        self._learner = KeptLearner(gpus)
        self._rewards = KeptRewards()
        self._runs = 0

    def __enter__(self) -> WarmLoop:
        return self

    def __exit__(self, *_: object) -> None:
        if self._engines is not None:
            self._engines.end()
        if self._process is not None:
            ray.kill(self._process)
        self._learner.end()
        self._rewards.end()

    def warm_up(self, policy: Path, spec: RunSpec) -> None:
        """Have both processes import what they need, on behalf of no run."""
        learner = self._learner.remote(0, 1, 1, None).start.remote(str(policy), spec, None, "cpu", None)
        ray.get(
            [learner, self._host(0, 0).start.remote(EngineConfig(str(policy), max_model_len=64, kv_cache_gib=0.05))]
        )

    @property
    def engine_process(self) -> Any:
        """Handle of the process that holds the present engine."""
        return self._process

    def run(self, platform: PlatformDouble, bundle: Mapping[str, Any]) -> list[tuple[Batch, dict[str, float]]]:
        """Train to the end. ``bundle`` is what ``platform`` hands out, where need be without run, folder and attempt.

        Returns:
            Each step's batch as the learner left it, with the learner's metrics.
        """
        self._runs += 1
        run_id = f"warm-{self._runs}"
        named = {"run_id": run_id, "attempt": 1, "run_dir": str(self._folder / run_id)}
        platform.bundle = given = {**named, **bundle}
        seen: list[tuple[Batch, dict[str, float]]] = []

        class Watched(ActiveRun):
            def learned(self, update: Any, batch: Batch) -> Learned:
                learned = super().learned(update, batch)
                seen.append((batch, dict(learned.metrics)))
                return learned

        with (
            new_files_private(),
            patch("worker.loop.startup.Router", self._lend_engines),
            patch("worker.learner.ranks.ray", self._learner),
            patch("worker.loop.startup.ray", self._rewards),
            patch("worker.rewards.pool.ray", self._rewards),
            patch("worker.loop.run.ActiveRun", Watched),
            patch("worker.loop.examples.startup.usable_cores", lambda: 1),  # the kept learner has one thread
        ):
            _Controller(given["run_id"], given["attempt"], platform).attend()
        return seen

    def _lend_engines(self, spawn: Any, size: int, config: EngineConfig, *others: Any) -> KeptRouter:
        assert size == 1
        tolerance, batch, notify, least, *_ = others
        assert least == 1
        if self._engines is not None and self._engines.fits(config):
            return self._engines.lend(config, tolerance, batch, notify)
        if self._engines is not None:
            self._engines.end()  # another way to end thinking, or another head, is another engine
        self._engines = KeptRouter(self._host, 1, config, tolerance, batch, notify)
        return self._engines

    def _host(self, index: int, generation: int) -> Any:
        """The process of an engine: another one where the router has ended that before, and on a card, whose memory
        only the end of a process gives back for certain."""
        if self._process is not None and self._gpus:
            ray.kill(self._process)
        if self._process is None or generation > 0 or self._gpus:
            options = cluster.actor_options(None, ENGINE_CPUS, self._gpus)
            self._process = engine_process_class().options(**options).remote()
        return self._process


@contextmanager
def new_files_private() -> Iterator[None]:
    """What a controller does for its process, for as long as a run goes in this one."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


class _Controller(RunController):
    """The controller in this process instead of an actor of its own."""

    def __init__(self, run_id: str, attempt: int, platform: PlatformDouble) -> None:
        self._run_id, self._attempt = run_id, attempt
        self._url, self._token = platform.url, platform.token
        self._stopped, self._link = threading.Event(), None

    def attend(self) -> None:
        self._attend()


def demo_bundle(
    platform: PlatformDouble,
    spec: Mapping[str, Any],
    policy: Path,
    data: Mapping[str, Sequence[Mapping[str, Any]]],
    rewards: Mapping[str, dict[str, Any]] = REWARDS,
) -> dict[str, Any]:
    """What the platform hands out for a spec: rewards by slug, and rows by the name of their dataset."""
    ref = spec["reward"]["definition"]
    definition = rewards[ref.partition("@")[0]]
    named = {source["dataset"] for source in [*spec["data"]["sources"], *spec["evaluation"].get("sources", [])]}
    return {
        "spec": dict(spec),
        "revision": 0,
        "policy": {"name": "starter", "path": str(policy)},
        "reward": {"ref": ref, "definition": definition},
        "datasets": {name: platform.add_dataset(name, [dict(row) for row in data[name]]) for name in sorted(named)},
        "teacher": {"name": "starter", "path": str(policy)} if spec.get("distillation") else None,
        "resume": None,
        "lease_s": 15,
    }

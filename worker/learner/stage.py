"""The learning stage: a separate thread that feeds the learner, publishes its weights and saves its checkpoints.

Work is done in the order in which it was submitted, so a checkpoint requested before an update holds the state before
that update.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trainer_core.episodes import Group, Trajectory
from trainer_core.spec import RunSpec
from trainer_core.spec.learner.precision import HalfPrecision, UnifiedPrecision
from trainer_core.update.saving.saved import SavedCheckpoint
from worker.errors import LearnerLost
from worker.learner.ranks import LearnerGroup
from worker.learner.transport.choice import Travel
from worker.learner.weights import WeightHandle

if TYPE_CHECKING:
    from trainer_core.update.rescoring import LearnerSide


@dataclass(frozen=True, slots=True)
class Learned:
    """Outcome of an update."""

    metrics: dict[str, float]
    weights: WeightHandle | None
    """The new weights with their probe, for the engines; None if the step has not moved them, or no engine exists."""
    learn_s: float
    publish_s: float
    version: int = 0
    """Version of the weights after it."""


NOTICED_S = 5.0
"""Seconds until Ray has noticed the death of a process whose objects it reports as lost."""


def number_types(spec: RunSpec) -> tuple[str, str]:
    """Number types in which engine and learner multiply."""
    engine = spec.rollout.engine.dtype
    match spec.precision:
        case HalfPrecision():
            return engine, spec.precision.dtype
        case UnifiedPrecision():
            return engine, engine
        case _:
            return engine, spec.policy.dtype


class LearningStage:
    """The learner's ranks behind one queue."""

    def __init__(self) -> None:
        self._group: LearnerGroup | None = None
        self._streamed_s = 0.0
        self._closed = Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="learning")

    def start(
        self,
        model_dir: Path,
        spec: RunSpec,
        options: Mapping[str, Any],
        checkpoint: Path | None,
        teacher: Path | None = None,
        device: str = "cpu",
        cores: str | None = None,
        travel: Travel | None = None,
        places: Callable[[int], Mapping[str, Any]] = lambda rank: {},
        reference: Path | None = None,
        threads: int = 1,
    ) -> Future[tuple[dict[str, Any], float]]:
        """Start the ranks, from ``checkpoint`` if given. Result: the state stored with it, seconds."""
        arguments = (model_dir, spec, options, checkpoint, teacher, device, cores, travel, places, reference, threads)
        return self._thread.submit(self._start, *arguments)

    def probe_with(self, sequences: list[list[int]]) -> None:
        """Probe with these token sequences from now on."""
        self._thread.submit(lambda: self._learner.probe_with(sequences))

    def peaks(self, dtypes: Sequence[str]) -> Future[dict[str, float]]:
        """Peak operations per second of a rank's device by number type. Call it while nothing else computes."""
        return self._thread.submit(lambda: self._learner.peaks(dtypes))

    def publish(self) -> Future[WeightHandle]:
        """The current weights with their probe."""
        return self._thread.submit(lambda: self._learner.publish())

    @property
    def version(self) -> int:
        """Updates of the policy so far."""
        return self._learner.version

    def lives(self) -> bool:
        """Whether the process that holds the weights is alive. May be called from any thread, even while it learns."""
        return self._group is not None and self._group.lives(NOTICED_S)

    def learn(self, groups: list[Group], spec: RunSpec, step: int) -> Future[Learned]:
        """One step's update under ``spec``, then the new weights, if there are any."""
        return self._thread.submit(self._learn, groups, spec, step)

    def held_out(self, groups: list[Group], spec: RunSpec) -> Future[dict[str, float]]:
        """Metrics of held-out rows with the weights that the learner has when the call's turn comes."""
        return self._thread.submit(lambda: self._learner.held_out(groups, spec))

    def begin(self, spec: RunSpec, step: int) -> Future[None]:
        """Open a step whose groups arrive piece by piece. The result is ``CannotStream`` if the spec forbids it."""
        return self._thread.submit(self._begin, spec, step)

    def accumulate(self, groups: list[Group]) -> Future[float]:
        """Add the gradient of finished groups that have their advantages. Result: seconds."""
        return self._thread.submit(self._accumulate, groups)

    def finish(self) -> Future[Learned]:
        """The optimizer step of the open step, then the new weights, if any; ``learn_s`` counts its pieces too."""
        return self._thread.submit(self._finish)

    def rescore(
        self, trajectories: list[Trajectory], own_prompts: dict[str, NDArray[np.int32]], *, top_p: float, top_k: int
    ) -> Future[dict[str, LearnerSide]]:
        """The learner's side of a frozen-weight rescoring, with the weights that it has when the call's turn comes."""
        return self._thread.submit(lambda: self._learner.rescore(trajectories, own_prompts, top_p, top_k))

    def save(
        self,
        folder: Path,
        extra: dict[str, Any],
        done: Callable[[SavedCheckpoint], None],
        failed: Callable[[Exception], float | None],
    ) -> Future[SavedCheckpoint]:
        """Write a checkpoint, retrying as requested. The learner does not change in the meantime.

        Args:
            folder: the checkpoint's folder.
            extra: the caller's JSON-able state.
            done: called in the stage's thread once the checkpoint is on disk.
            failed: called there after every failed try. Returns the seconds until the next, or None to stop. Not called
                when a rank is lost: no learner is left to try again.
        """
        return self._thread.submit(self._save, folder, extra, done, failed)

    def close(self) -> None:
        """Kill the ranks; running work ends with an error that no caller waits for."""
        self._closed.set()
        self._thread.shutdown(wait=False, cancel_futures=True)
        if self._group is not None:
            self._group.close()

    @property
    def _learner(self) -> LearnerGroup:
        if self._group is None:
            raise RuntimeError("the learner was not started")
        return self._group

    def _start(
        self,
        model_dir: Path,
        spec: RunSpec,
        options: Mapping[str, Any],
        checkpoint: Path | None,
        teacher: Path | None,
        device: str,
        cores: str | None,
        travel: Travel | None,
        places: Callable[[int], Mapping[str, Any]],
        reference: Path | None,
        threads: int,
    ) -> tuple[dict[str, Any], float]:
        started = time.perf_counter()
        self._group = LearnerGroup(
            model_dir,
            spec,
            device=device,
            threads=threads,
            cores=cores,
            actor_options=options,
            teacher=teacher,
            reference=reference,
            travel=travel,
            places=places,
        )
        state = self._group.load(checkpoint) if checkpoint is not None else {}
        return state, time.perf_counter() - started

    def _begin(self, spec: RunSpec, step: int) -> None:
        self._streamed_s = 0.0
        self._learner.begin(spec, step)

    def _accumulate(self, groups: list[Group]) -> float:
        started = time.perf_counter()
        self._learner.accumulate(groups)
        seconds = time.perf_counter() - started
        self._streamed_s += seconds
        return seconds

    def _finish(self) -> Learned:
        started = time.perf_counter()
        before = self._learner.version
        metrics = self._learner.finish()
        learned = time.perf_counter()
        weights = self._publish_after(before)
        seconds = self._streamed_s + learned - started
        return Learned(metrics, weights, seconds, time.perf_counter() - learned, self._learner.version)

    def _learn(self, groups: list[Group], spec: RunSpec, step: int) -> Learned:
        started = time.perf_counter()
        before = self._learner.version
        metrics = self._learner.update(groups, spec, step)
        learned = time.perf_counter()
        # A run that learns from rows has no engines.
        weights = self._publish_after(before) if spec.examples is None else None
        seconds = learned - started
        return Learned(metrics, weights, seconds, time.perf_counter() - learned, self._learner.version)

    def _publish_after(self, version: int) -> WeightHandle | None:
        """The weights of a newer version than this; None if there is none: engines already have these."""
        return None if self._learner.version == version else self._learner.publish()

    def _save(
        self,
        folder: Path,
        extra: dict[str, Any],
        done: Callable[[SavedCheckpoint], None],
        failed: Callable[[Exception], float | None],
    ) -> SavedCheckpoint:
        while True:
            try:
                saved = self._learner.save(folder, extra)
                done(saved)
                return saved
            except LearnerLost:
                raise
            except Exception as error:
                wait_s = failed(error)
                if wait_s is None or self._closed.wait(wait_s):
                    raise

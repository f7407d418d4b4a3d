"""Event-driven simulation of a run with failures: engines drop out for some time, learners go back to the last
checkpoint."""

import heapq
import math
import random
from collections.abc import Callable
from dataclasses import dataclass

from trainer_core.planning.cluster.hardware import Reliability


@dataclass(frozen=True, slots=True)
class Fleet:
    """Parts of a run that can fail."""

    engines: int
    engine_gpus: int
    """GPUs of one engine, which fails with any of them; 0 if engines share the learner's GPUs and fail with it."""
    learner_gpus: int
    """GPUs of the learner; a failure of any sends the run back to its checkpoint."""
    reliability: Reliability


@dataclass(frozen=True, slots=True)
class CheckpointPlan:
    """Checkpoints of a run."""

    every_steps: int
    seconds: float
    """Time of one checkpoint, during which no step makes progress."""


@dataclass(slots=True)
class Passage:
    """Time of some steps, in seconds. All fields except the numbers of failures add up to the total."""

    worked: float = 0.0
    """Time of steps that counted."""
    saved: float = 0.0
    """Time of checkpoints that were completed."""
    redone: float = 0.0
    """Time of steps and checkpoints that a failure invalidated."""
    restarted: float = 0.0
    """Time until the run resumed after a failure of the learner, or while no engine was available."""
    learner_failures: int = 0
    engine_failures: int = 0

    @property
    def seconds(self) -> float:
        """Total time."""
        return self.worked + self.saved + self.redone + self.restarted


def passage(
    steps: int,
    step_seconds: Callable[[int], float],
    fleet: Fleet,
    saving: CheckpointPlan,
    *,
    begun_share: float = 0.5,
    seed: int = 0,
) -> Passage:
    """Simulate ``steps`` steps.

    Args:
        steps: how many.
        step_seconds: time of a step by the number of working engines, at least 1.
        fleet: the parts that can fail.
        saving: the checkpoints; the last step is always saved.
        begun_share: share of an engine's part of the step that is lost with it and must be generated again.
        seed: the seed of the times of failures.
    """
    return _Passing(steps, step_seconds, fleet, saving, begun_share, random.Random(seed)).run()


class _Passing:
    def __init__(
        self,
        steps: int,
        step_seconds: Callable[[int], float],
        fleet: Fleet,
        saving: CheckpointPlan,
        begun_share: float,
        chance: random.Random,
    ) -> None:
        self.steps, self.step_seconds, self.fleet, self.saving = steps, step_seconds, fleet, saving
        self.begun_share, self.chance = begun_share, chance
        self.now = 0.0
        self.done = self.safe = 0
        """Completed steps, and steps that a checkpoint holds."""
        self.left = 1.0
        """Share of the current step that is left; it can exceed 1 if engines fail during the step."""
        self.saving_left: float | None = None
        self.since = Passage()
        """Time since the last checkpoint, which a failure invalidates."""
        self.total = Passage()
        self.alive = fleet.engines
        self.back: list[float] = []
        """Heap of the times at which engines work again."""
        self.learner_fails = self._until(fleet.learner_gpus)
        self.engine_fails = self._until(fleet.engine_gpus * self.alive)

    def _until(self, gpus: int) -> float:
        """Time of the next failure among ``gpus``."""
        rate = gpus / (self.fleet.reliability.gpu_hours_between_failures * 3600)
        return self.now + self.chance.expovariate(rate) if rate > 0 else math.inf

    def run(self) -> Passage:
        while self.safe < self.steps:
            work = self._work_seconds()
            next_event = min(self.learner_fails, self.engine_fails, self.back[0] if self.back else math.inf)
            passed = min(work, max(0.0, next_event - self.now))
            self._advance(passed)
            if passed == work:
                self._finish()
            else:
                self._happen()
        return self.total

    def _work_seconds(self) -> float:
        """Time until the current step or checkpoint ends, if nothing fails."""
        if self.saving_left is not None:
            return self.saving_left
        return self.left * self.step_seconds(self.alive) if self.alive else math.inf

    def _advance(self, seconds: float) -> None:
        self.now += seconds
        if self.saving_left is not None:
            self.saving_left -= seconds
            self.since.saved += seconds
        elif self.alive:
            self.left -= seconds / self.step_seconds(self.alive)
            self.since.worked += seconds
        else:
            self.since.restarted += seconds

    def _finish(self) -> None:
        if self.saving_left is not None:
            self.saving_left, self.safe = None, self.done
            self._settle(counts=True)
            return
        self.done, self.left = self.done + 1, 1.0
        if self.done % self.saving.every_steps == 0 or self.done == self.steps:
            self.saving_left = self.saving.seconds

    def _happen(self) -> None:
        if self.back and self.back[0] <= min(self.learner_fails, self.engine_fails):
            heapq.heappop(self.back)
            self.alive += 1
            self.engine_fails = self._until(self.fleet.engine_gpus * self.alive)
        elif self.engine_fails <= self.learner_fails:
            self.total.engine_failures += 1
            if self.saving_left is None:
                self.left += self.begun_share / self.fleet.engines
            self.alive -= 1
            heapq.heappush(self.back, self.now + self.fleet.reliability.engine_restart_seconds)
            self.engine_fails = self._until(self.fleet.engine_gpus * self.alive)
        else:
            self._go_back()

    def _go_back(self) -> None:
        """Lose the steps that no checkpoint holds, and wait for the restart. Failed engines come back in the
        meantime."""
        self.total.learner_failures += 1
        self._settle(counts=False)
        self.done, self.left, self.saving_left = self.safe, 1.0, None
        self.now += self.fleet.reliability.restart_seconds
        self.total.restarted += self.fleet.reliability.restart_seconds
        self.alive, self.back = self.fleet.engines, []
        self.learner_fails = self._until(self.fleet.learner_gpus)
        self.engine_fails = self._until(self.fleet.engine_gpus * self.alive)

    def _settle(self, *, counts: bool) -> None:
        since, self.since = self.since, Passage()
        self.total.restarted += since.restarted
        if counts:
            self.total.worked += since.worked
            self.total.saved += since.saved
        else:
            self.total.redone += since.worked + since.saved

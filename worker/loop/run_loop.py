"""The actions that the loop in ``controller`` takes in every step, and those that are the same for every objective."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from worker.errors import LearnerLost, WeightsRefused
from worker.learner.stage import Learned
from worker.learner.weights import WeightHandle
from worker.loop.controls import Controls
from worker.loop.pausing import Pausing
from worker.loop.saving import Saving
from worker.loop.steering import Steering
from worker.loop.watching import Results, Watching

POLL_S = 0.2
"""Seconds between two checks, during a wait, whether the run must end."""
B = TypeVar("B")
"""A batch: what one step learns from."""
T = TypeVar("T")


class RunLoop(ABC, Generic[B]):
    """One attempt between start-up and end. Used only by the loop's thread.

    Each abstract method is one arrow of the loop. An objective says what its arrows do; what a run saves, when it
    pauses and how it ends is the same for all.
    """

    first_step: int
    _steering: Steering
    _commands: Controls
    _saving: Saving
    _pausing: Pausing
    _guards: Watching

    @property
    def last_step(self) -> int:
        """Number of the last step."""
        return self._steering.spec.schedule.steps

    @abstractmethod
    def begin(self) -> None:
        """Do what comes before the first step."""

    @abstractmethod
    def dispatch(self, step: int) -> None:
        """Draw what ``step`` learns from. Dispatch controls apply here."""

    @abstractmethod
    def dispatch_ahead(self, step: int) -> None:
        """Draw for ``step`` before the previous step has ended, if the mode allows."""

    @abstractmethod
    def collect(self, step: int) -> B:
        """Wait for the batch of ``step``."""

    @abstractmethod
    def learn(self, batch: B) -> Future[Learned]:
        """Hand the batch to the learner. Optimizer-step controls apply here."""

    @abstractmethod
    def learned(self, update: Future[Learned], batch: B) -> Learned:
        """Wait for the update."""

    @abstractmethod
    def sync_weights(self, weights: WeightHandle | None, step: int) -> None:
        """Adopt the weights after ``step``; None if they have not moved, or nothing serves them."""

    @abstractmethod
    def report(self, batch: B, learned: Learned) -> None:
        """Report a finished step to the platform, and let the guards check it."""

    @abstractmethod
    def evaluate_if_due(self, step: int) -> None:
        """Start evaluating the weights after ``step`` if due."""

    def stand_refused(self, refused: WeightsRefused) -> None:
        """Pause because engines do not compute with the learner's weights."""
        raise refused

    def save_if_due(self, step: int) -> None:
        """Save after ``step`` if the schedule, a user or a control requests it."""
        self._commands.wish_requested(step)
        if step == self.last_step:
            self._saving.wish(step, "final")
        elif step % self._steering.spec.checkpoint.every_steps == 0:
            self._saving.wish(step, "schedule")
        self._saving.save(step)

    def pause_if_asked(self, step: int) -> None:
        """Pause after ``step`` while the platform or the run itself wants it; see ``Pausing``."""
        if self._pausing.pause_if_asked(step):
            self._restart_clock()

    def finish(self) -> None:
        """Wait for work in progress, including the last checkpoint."""
        self._settle()
        self._guards.end(self.last_step, self._results)
        while not self._is_saved():
            self.pause_if_asked(self.last_step)
            self._saving.wish(self.last_step, "final")
            self._saving.save(self.last_step)

    @property
    def ending(self) -> str:
        """Reason of the run's success."""
        return self._guards.ending

    def close(self) -> None:
        """Delete checkpoints that newer ones have replaced."""
        self._saving.prune_last()

    @property
    @abstractmethod
    def _results(self) -> Results:
        """Evaluations whose results the guards check."""

    @abstractmethod
    def _restart_clock(self) -> None:
        """Leave a pause out of the next step's time."""

    @abstractmethod
    def _settle(self) -> None:
        """Wait for all work in progress."""

    @abstractmethod
    def _until(self, condition: Callable[[], bool]) -> None:
        """Wait for ``condition``, unless the run must end."""

    @abstractmethod
    def _wait(self, future: Future[T]) -> T:
        """Wait for the result without a timeout, unless the run must end."""

    def _is_saved(self) -> bool:
        """Wait for the latest requested checkpoint. Returns whether it is on disk.

        Raises:
            LearnerLost: a rank died while saving.
        """
        saved: Future[Any] | None = self._saving.last
        if saved is None:
            return True
        self._until(saved.done)
        if isinstance(error := saved.exception(), LearnerLost):
            raise error
        return error is None


class StepClock:
    """Seconds of a step, without pauses."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Start now."""
        self._mark = time.perf_counter()

    def lap(self) -> float:
        """Seconds since the last call, or since the start."""
        now = time.perf_counter()
        seconds, self._mark = now - self._mark, now
        return seconds

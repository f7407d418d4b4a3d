"""Requests for checkpoints, and the state that each keeps: the learner's after a step, and what the loop must go on
with. A checkpoint that cannot be written, for whatever reason, is told, counted and tried again."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from ray.exceptions import RayTaskError

from trainer_core.link.events import AlertData, CheckpointReason
from trainer_core.update.saving.integrity import CheckpointError
from trainer_core.update.saving.saved import SavedCheckpoint
from worker.learner.stage import LearningStage
from worker.link.client import Link
from worker.loop.checkpoints import Checkpoints, Wish

WAITS_S = (1.0, 4.0)
"""Seconds before a checkpoint that could not be written is tried for the second time, and for the third and last."""


class Saving:
    """Used by the loop's thread; results come in that of the learning stage."""

    def __init__(
        self, checkpoints: Checkpoints, learning: LearningStage, link: Link, state: Callable[[], dict[str, Any]]
    ) -> None:
        """``state`` is what the run keeps beside the policy and what dispatch goes on with."""
        self._checkpoints, self._learning, self._link, self._state = checkpoints, learning, link, state
        self._wishes: dict[int, list[Wish]] = {}
        """Requests by the step after which the state is wanted."""
        self._remembered: tuple[int, dict[str, Any]] = (-1, {})
        self._saved_step = -1
        self._trouble: str | None = None
        self._in_a_row = 0
        """Tries that have failed since the last checkpoint that was written, or was given up."""
        self._told: str | None = None
        """Reason that people were told, until a checkpoint is written."""
        self._failures = self._reported = 0
        self.last: Future[SavedCheckpoint] | None = None
        """The newest checkpoint that was asked of the learner."""

    def remember(self, step: int, snapshot: dict[str, Any]) -> None:
        """Remember what dispatch must go on with after ``step``: taken before anything is drawn behind it."""
        self._remembered = (step, snapshot)

    def wish(self, step: int, reason: CheckpointReason, control_id: str | None = None) -> None:
        """Ask for the state after ``step``."""
        self._wishes.setdefault(step, []).append(Wish(reason, control_id))

    def save(self, step: int) -> None:
        """Queue the checkpoints that are wanted of the state after ``step``, in one writing."""
        wishes = self._wishes.pop(step, [])
        if not wishes:
            return
        if self.last is not None and self.is_secured(step):
            self.last.add_done_callback(lambda saved: self._announce_again(step, wishes, saved))
            return
        remembered, snapshot = self._remembered
        if remembered != step:
            raise RuntimeError(f"a checkpoint after step {step} was asked when that of {remembered} was at hand")
        self._link.phase("checkpoint", step)
        self._saved_step = step
        self.last = self._learning.save(
            self._checkpoints.path(step),
            {"step": step, **snapshot, **self._state()},
            lambda saved: self._written(step, wishes, saved),
            lambda error: self._not_written(step, error),
        )

    def secure(self, step: int) -> Future[SavedCheckpoint]:
        """The checkpoint after ``step``, which is written if there is none: its result is there once it is on disk."""
        if not self.is_secured(step):
            self.wish(step, "release")
            self.save(step)
        assert self.last is not None
        return self.last

    def is_secured(self, step: int) -> bool:
        """Whether the state after ``step`` lies in a checkpoint, or is about to."""
        return self.last is not None and self._saved_step == step and not self._has_failed(self.last)

    def trouble(self) -> str | None:
        """Reason why the last checkpoint was given up, told once. The older ones are as they were."""
        found, self._trouble = self._trouble, None
        return found

    def metrics(self) -> dict[str, float]:
        """Failures since the last call."""
        counted, self._reported = self._failures - self._reported, self._failures
        return {"checkpoint/failures": float(counted)}

    def _announce_again(self, step: int, wishes: list[Wish], future: Future[SavedCheckpoint]) -> None:
        """The state that is wanted lies on the disk already, or is about to."""
        if not future.cancelled() and future.exception() is None:
            self._checkpoints.announce(step, wishes, future.result())

    @staticmethod
    def _has_failed(saved: Future[SavedCheckpoint]) -> bool:
        """Whether it could not be written: then it is written anew for whoever asks next."""
        return saved.done() and (saved.cancelled() or saved.exception() is not None)

    def _written(self, step: int, wishes: list[Wish], saved: SavedCheckpoint) -> None:
        self._checkpoints.announce(step, wishes, saved)
        self._in_a_row, self._told = 0, None

    def _not_written(self, step: int, error: Exception) -> float | None:
        """Tell of a try that has failed. Returns the seconds until the next; None after the third in a row."""
        why = reason(error)
        self._failures += 1
        if self._in_a_row == len(WAITS_S):
            self._in_a_row = 0
            self._trouble = f"The checkpoint after step {step} could not be written: {why}"
            return None
        wait_s = WAITS_S[self._in_a_row]
        self._in_a_row += 1
        if why != self._told:
            self._told = why
            message = f"The checkpoint after step {step}: {why.rstrip('.')}. It is tried again, three times in all."
            title = "A checkpoint could not be written"
            self._link.emit(AlertData(level="warn", title=title, message=message, code="not_saved"), step)
        return wait_s


def reason(error: BaseException) -> str:
    """The cause of a failure in one line; its type is named where the words alone may not tell."""
    cause = error.cause if isinstance(error, RayTaskError) else error
    words = (str(cause).splitlines() or [""])[0]
    if isinstance(cause, OSError | CheckpointError) and words:
        return words
    return f"{type(cause).__name__}: {words}" if words else type(cause).__name__

"""Checkpoint requests, and the state that each checkpoint stores: the learner's and the loop's after a step.

A checkpoint that cannot be written, for any reason, is reported, counted and tried again.
"""

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
"""Seconds before the second and the third (last) try to write a checkpoint."""
KNOWN_S = 5.0
"""Longest time that the end of an attempt waits for the platform to know of its checkpoints."""


class Saving:
    """Used by the loop's thread; results arrive in the learning stage's thread."""

    def __init__(
        self, checkpoints: Checkpoints, learning: LearningStage, link: Link, state: Callable[[], dict[str, Any]]
    ) -> None:
        """``state`` returns the run's state, besides the policy and the state of dispatch."""
        self._checkpoints, self._learning, self._link, self._state = checkpoints, learning, link, state
        self._wishes: dict[int, list[Wish]] = {}
        """Requests, by the step whose state is wanted."""
        self._remembered: tuple[int, dict[str, Any]] = (-1, {})
        self._saved_step = -1
        self._trouble: str | None = None
        self._in_a_row = 0
        """Failed tries since the last checkpoint that was written or given up."""
        self._told: str | None = None
        """Last reported reason; None once a checkpoint is written."""
        self._failures = self._reported = 0
        self.last: Future[SavedCheckpoint] | None = None
        """The latest checkpoint requested from the learner."""

    def remember(self, step: int, snapshot: dict[str, Any]) -> None:
        """Store the dispatch state after ``step``, taken before anything is drawn for later steps."""
        self._remembered = (step, snapshot)

    def wish(self, step: int, reason: CheckpointReason, control_id: str | None = None) -> None:
        """Request a checkpoint of the state after ``step``."""
        self._wishes.setdefault(step, []).append(Wish(reason, control_id))

    def save(self, step: int) -> None:
        """Queue all requested checkpoints of the state after ``step`` as one write."""
        self._checkpoints.prune()
        wishes = self._wishes.pop(step, [])
        if not wishes:
            return
        if self.last is not None and self.is_secured(step):
            self.last.add_done_callback(lambda saved: self._announce_again(step, wishes, saved))
            return
        remembered, snapshot = self._remembered
        if remembered != step:
            raise RuntimeError(f"a checkpoint after step {step} was requested, but the latest is of {remembered}")
        self._link.phase("checkpoint", step)
        self._saved_step = step
        self._checkpoints.prepare(step, wishes)
        self.last = self._learning.save(
            self._checkpoints.path(step),
            {"step": step, **snapshot, **self._state()},
            lambda saved: self._written(step, wishes, saved),
            lambda error: self._not_written(step, error),
        )

    def prune_last(self) -> None:
        """Delete replaced checkpoints at the attempt's end, once the platform knows of the newest. A given-up attempt
        deletes nothing: the next one decides."""
        if self._link.flush(KNOWN_S) and self._link.fenced is None:
            self._checkpoints.prune()

    def secure(self, step: int) -> Future[SavedCheckpoint]:
        """The checkpoint after ``step``, requested if there is none. The result arrives once it is on disk."""
        if not self.is_secured(step):
            self.wish(step, "release")
            self.save(step)
        assert self.last is not None
        return self.last

    def is_secured(self, step: int) -> bool:
        """Whether the state after ``step`` is in a checkpoint, or about to be."""
        return self.last is not None and self._saved_step == step and not self._has_failed(self.last)

    def trouble(self) -> str | None:
        """Reason why the last checkpoint was given up; returned once. Older checkpoints are intact."""
        found, self._trouble = self._trouble, None
        return found

    def metrics(self) -> dict[str, float]:
        """Failures since the last call."""
        counted, self._reported = self._failures - self._reported, self._failures
        return {"checkpoint/failures": float(counted)}

    def _announce_again(self, step: int, wishes: list[Wish], future: Future[SavedCheckpoint]) -> None:
        """Announce a state that is already on disk, or about to be, for further requests."""
        if not future.cancelled() and future.exception() is None:
            self._checkpoints.announce(step, wishes, future.result())

    @staticmethod
    def _has_failed(saved: Future[SavedCheckpoint]) -> bool:
        """Whether it could not be written. The next request then writes it again."""
        return saved.done() and (saved.cancelled() or saved.exception() is not None)

    def _written(self, step: int, wishes: list[Wish], saved: SavedCheckpoint) -> None:
        self._checkpoints.announce(step, wishes, saved)
        self._in_a_row, self._told = 0, None

    def _not_written(self, step: int, error: Exception) -> float | None:
        """Report a failed try. Returns the seconds until the next one; None after the third in a row."""
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
            message = f"The checkpoint after step {step}: {why.rstrip('.')}. It is retried, three times in total."
            title = "A checkpoint could not be written"
            self._link.emit(AlertData(level="warn", title=title, message=message, code="not_saved"), step)
        return wait_s


def reason(error: BaseException) -> str:
    """The cause of a failure in one line. Includes its type if the message alone may be unclear."""
    cause = error.cause if isinstance(error, RayTaskError) else error
    words = (str(cause).splitlines() or [""])[0]
    if isinstance(cause, OSError | CheckpointError) and words:
        return words
    return f"{type(cause).__name__}: {words}" if words else type(cause).__name__

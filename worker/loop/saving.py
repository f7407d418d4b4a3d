"""Requests for checkpoints, and the state that each keeps: the learner's after a step, and what the loop must go on
with."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from trainer_core.link.events import CheckpointReason
from trainer_core.update.saving.integrity import CheckpointError
from trainer_core.update.saving.saved import SavedCheckpoint
from worker.learner.stage import LearningStage
from worker.link.client import Link
from worker.loop.checkpoints import Checkpoints, Wish


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
            lambda saved: self._checkpoints.announce(step, wishes, saved),
        )
        self.last.add_done_callback(lambda saved: self._after(step, saved))

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
        """Reason why the last checkpoint could not be written, told once."""
        found, self._trouble = self._trouble, None
        return found

    def _announce_again(self, step: int, wishes: list[Wish], future: Future[SavedCheckpoint]) -> None:
        """The state that is wanted lies on the disk already, or is about to."""
        if not future.cancelled() and future.exception() is None:
            self._checkpoints.announce(step, wishes, future.result())

    @staticmethod
    def _has_failed(saved: Future[SavedCheckpoint]) -> bool:
        """Whether it could not be written: then it is written anew for whoever asks next."""
        return saved.done() and (saved.cancelled() or saved.exception() is not None)

    def _after(self, step: int, future: Future[SavedCheckpoint]) -> None:
        """A full disk pauses the run; the older checkpoints are as they were."""
        error = None if future.cancelled() else future.exception()
        if isinstance(error, OSError | CheckpointError):
            self._trouble = f"The checkpoint after step {step} could not be written: {error}"

"""Pauses of a run: requested by users, requested by the run itself, or forced by unusable engines."""

from __future__ import annotations

import time
from collections.abc import Callable

from trainer_core.link.events import ASKED_TO_PAUSE, AlertData, StateData
from worker.errors import LearnerLost, PlaceReleased, WeightsRefused
from worker.link.client import Link
from worker.loop.controls import Controls
from worker.loop.noise import WAY_OUT
from worker.loop.saving import Saving, reason

POLL_S = 0.2
"""Seconds between two checks whether the run may continue."""
RELEASE_AGAIN_S = 60.0
"""Seconds after a failed checkpoint until a paused run tries again to save and release its slot."""
_FROM_THE_LAST = "It continues from its last checkpoint: the learner was in the middle of a step."


class Pausing:
    """The pauses of one attempt. Used only by the loop's thread."""

    def __init__(
        self,
        link: Link,
        saving: Saving,
        commands: Controls,
        settle: Callable[[], None],
        interrupt: Callable[[], None],
    ) -> None:
        """Prepare the pauses of one attempt.

        Args:
            link: reports what the platform wants.
            saving: writes the checkpoints requested during a pause.
            commands: executes the commands received during a pause.
            settle: waits for all work in progress.
            interrupt: raises if the run must stop.
        """
        self._link, self._saving, self._commands = link, saving, commands
        self._settle, self._interrupt = settle, interrupt
        self.reason: str | None = None
        """Reason why the run itself wants to pause, until a user resumes it."""
        self._told_trouble: str | None = None
        """Reason why the paused run could not be saved, once it was reported."""
        self._release_after = 0.0
        """Monotonic time before which the run does not try again to release its slot."""

    def pause_if_asked(self, step: int) -> bool:
        """Pause after ``step`` while the platform or the run itself wants it. Commands are still obeyed.

        Returns:
            Whether it paused.

        Raises:
            PlaceReleased: the platform wants the slot back, and the checkpoint after ``step`` holds everything.
        """
        self.reason = self.reason or self._saving.trouble()
        if self.reason is None and self._link.desired_state != "paused":
            return False
        own, asked = self.reason is not None, False
        paused = StateData(state="paused", reason=self.reason or ASKED_TO_PAUSE, by_request=not own)
        self._link.emit(paused, step)
        while True:
            self._interrupt()
            asked = asked or self._link.desired_state == "paused"
            # A run that paused by itself continues only after the platform has noted it and a user has resumed it.
            if self._link.desired_state == "running" and (asked or not own):
                break
            self._link.phase("waiting", step)
            self._commands.wish_requested(step)
            self._saving.save(step)
            self._release_if_asked(step)
            self._tell_trouble(step)
            time.sleep(POLL_S)
        self._tell_trouble(step)  # it must not pause the run that a user has just resumed
        self.reason, self._told_trouble = None, None
        self._link.emit(StateData(state="running", reason="resumed"), step)
        return True

    def stand_refused(self, refused: WeightsRefused, step: int, *, whole: bool) -> None:
        """Save and pause because engines do not compute with the learner's weights.

        The engines are no longer usable. The attempt ends when a user resumes the run or the platform wants its slot;
        the next attempt starts from the checkpoint.

        Args:
            refused: what the engines' probe found.
            step: the last step.
            whole: whether learner and loop are both in the state after ``step``, which can then be saved.

        Raises:
            PlaceReleased: a user has resumed the run, or the platform wants its slot.
        """
        kept = self._save_refused(step) if whole else _FROM_THE_LAST
        reason = f"{str(refused).rstrip('.')}. {kept} Resume the run to start it from there with new engines."
        if refused.by_noise:
            reason = f"{reason} {WAY_OUT}"
        title = "An engine's weights differ from the learner's"
        self._link.emit(AlertData(level="error", title=title, message=reason, code="weights_differ"), step)
        self._link.emit(StateData(state="paused", reason=reason, by_request=False), step)
        noted = False
        while True:
            self._interrupt()
            self._link.phase("waiting", step)
            # The platform switches to "paused" once it has read the event; until then it still says "running".
            noted = noted or self._link.desired_state == "paused"
            if noted and (self._link.desired_state == "running" or self._link.release_place):
                raise PlaceReleased(kept)
            time.sleep(POLL_S)

    def _release_if_asked(self, step: int) -> None:
        """Save and end a paused run if the platform wants its slot back. If it cannot be saved, it keeps the slot.

        Raises:
            PlaceReleased: the checkpoint after ``step`` holds everything that the run resumes from.
        """
        too_soon = time.monotonic() < self._release_after and not self._saving.is_secured(step)
        if too_soon or not self._link.release_place:
            return
        self._settle()
        if self._write(step) is not None:  # ``Saving`` stores the reason for ``_tell_trouble``
            self._release_after = time.monotonic() + RELEASE_AGAIN_S
            return
        if self._link.release_place and self._link.desired_state == "paused":
            raise PlaceReleased

    def _save_refused(self, step: int) -> str:
        """Save the state after ``step``. Returns a sentence that says where the run resumes."""
        error = self._write(step)
        if error is not None:
            return f"It could not be saved after step {step} ({reason(error)}), and continues from its last checkpoint."
        return f"The checkpoint after step {step} is safe."

    def _write(self, step: int) -> BaseException | None:
        """Wait until the state after ``step`` is in a checkpoint. Returns the error if it could not be written.

        Raises:
            LearnerLost: a rank died while saving.
        """
        saved = self._saving.secure(step)
        while not saved.done():
            self._interrupt()
            time.sleep(POLL_S)
        if isinstance(error := saved.exception(), LearnerLost):
            raise error
        return error

    def _tell_trouble(self, step: int) -> None:
        """Report a checkpoint that could not be written during a pause: once, until the reason changes."""
        trouble = self._saving.trouble()
        if trouble is None or trouble == self._told_trouble:
            return
        self._told_trouble = trouble
        stays = ". The run stays paused and keeps its slot; saving is retried in a minute."
        message = trouble.rstrip(".") + stays if self._link.release_place else trouble
        title = "The run could not be saved"
        self._link.emit(AlertData(level="error", title=title, message=message, code="not_saved"), step)

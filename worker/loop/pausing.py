"""A run that stands still: because people want it, because it wants it itself, or over engines that are of no use."""

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
"""Seconds between two looks whether the run shall go on."""
RELEASE_AGAIN_S = 60.0
"""Seconds after a checkpoint that could not be written until a paused run is saved again to give its place back."""
_FROM_THE_LAST = "It goes on from its last checkpoint: the learner was in the middle of a step."


class Pausing:
    """Used by the loop's thread alone."""

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
            link: tells what the platform wants.
            saving: writes the checkpoints that are asked for meanwhile.
            commands: commands that are obeyed meanwhile.
            settle: waits for all that is still under way.
            interrupt: raises when the run shall not go on.
        """
        self._link, self._saving, self._commands = link, saving, commands
        self._settle, self._interrupt = settle, interrupt
        self.reason: str | None = None
        """Reason why the run itself wants to pause, until a person says otherwise."""
        self._told_trouble: str | None = None
        """Reason for which the paused run could not be saved, once people were told."""
        self._release_after = 0.0
        """Time of the monotonic clock before which giving the place back is not tried again."""

    def pause_if_asked(self, step: int) -> bool:
        """Stand still after ``step`` while the platform, or the run itself, wants it. Commands are still obeyed.

        Returns:
            Whether it stood still.

        Raises:
            PlaceReleased: the platform wants the place back, and everything lies in the checkpoint after ``step``.
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
            # A run that paused by itself goes on only after the platform has taken note and a person has resumed it.
            if self._link.desired_state == "running" and (asked or not own):
                break
            self._link.phase("waiting", step)
            self._commands.wish_requested(step)
            self._saving.save(step)
            self._release_if_asked(step)
            self._tell_trouble(step)
            time.sleep(POLL_S)
        self._tell_trouble(step)  # it must not pause the run that people have just resumed
        self.reason, self._told_trouble = None, None
        self._link.emit(StateData(state="running", reason="resumed"), step)
        return True

    def stand_refused(self, refused: WeightsRefused, step: int, *, whole: bool) -> None:
        """Pause over engines that do not compute with the learner's weights, with what was learned in a checkpoint.

        The engines are of no use any more: the attempt ends when people resume the run, or its place is wanted, and
        the next one begins anew from the checkpoint.

        Args:
            refused: what the engines' probe has found.
            step: the last step.
            whole: whether the learner and all that the loop keeps are of the state after ``step``, which can be saved.

        Raises:
            PlaceReleased: people have resumed the run, or its place is wanted.
        """
        kept = self._save_refused(step) if whole else _FROM_THE_LAST
        reason = f"{str(refused).rstrip('.')}. {kept} Resume the run to start it from there with new engines."
        if refused.by_noise:
            reason = f"{reason} {WAY_OUT}"
        title = "An engine has other weights than the learner"
        self._link.emit(AlertData(level="error", title=title, message=reason, code="weights_differ"), step)
        self._link.emit(StateData(state="paused", reason=reason, by_request=False), step)
        noted = False
        while True:
            self._interrupt()
            self._link.phase("waiting", step)
            # The platform sets its wish to a pause once it has read the event; until then it still says "running".
            noted = noted or self._link.desired_state == "paused"
            if noted and (self._link.desired_state == "running" or self._link.release_place):
                raise PlaceReleased(kept)
            time.sleep(POLL_S)

    def _release_if_asked(self, step: int) -> None:
        """Save a paused run and end it where the platform wants its place back. What cannot be saved keeps the place.

        Raises:
            PlaceReleased: everything that the run goes on with lies in the checkpoint after ``step``.
        """
        too_soon = time.monotonic() < self._release_after and not self._saving.is_secured(step)
        if too_soon or not self._link.release_place:
            return
        self._settle()
        if self._write(step) is not None:  # ``Saving`` keeps it for ``_tell_trouble``
            self._release_after = time.monotonic() + RELEASE_AGAIN_S
            return
        if self._link.release_place and self._link.desired_state == "paused":
            raise PlaceReleased

    def _save_refused(self, step: int) -> str:
        """Save the state after ``step``. Returns a sentence that says from where the run goes on."""
        error = self._write(step)
        if error is not None:
            return f"It could not be saved after step {step} ({reason(error)}), and goes on from its last checkpoint."
        return f"The checkpoint after step {step} is safe."

    def _write(self, step: int) -> BaseException | None:
        """Wait until the state after ``step`` lies in a checkpoint. Returns why it could not be written.

        Raises:
            LearnerLost: a rank died over it.
        """
        saved = self._saving.secure(step)
        while not saved.done():
            self._interrupt()
            time.sleep(POLL_S)
        if isinstance(error := saved.exception(), LearnerLost):
            raise error
        return error

    def _tell_trouble(self, step: int) -> None:
        """Tell of a checkpoint that could not be written while the run stands still: once, until the reason changes."""
        trouble = self._saving.trouble()
        if trouble is None or trouble == self._told_trouble:
            return
        self._told_trouble = trouble
        stays = ". The run stays paused and keeps its place; saving is tried again in a minute."
        message = trouble.rstrip(".") + stays if self._link.release_place else trouble
        title = "The run could not be saved"
        self._link.emit(AlertData(level="error", title=title, message=message, code="not_saved"), step)

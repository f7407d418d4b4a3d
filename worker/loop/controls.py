"""User commands, executed for the loop: applies and reports controls, requests checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from trainer_core.link.commands import Applied
from trainer_core.link.events import LogData
from trainer_core.spec import RunSpec
from trainer_core.spec.base import Boundary
from worker.link.client import Link
from worker.loop.saving import Saving
from worker.loop.steering import Steering
from worker.messages.control import AppliedControl
from worker.rewards.versions import RewardVersions


class Steered(Protocol):
    """A batch, and the controls that it was made under."""

    @property
    def step(self) -> int: ...

    @property
    def applications(self) -> int:
        """Fewest spec changes in effect when one of its groups was drawn."""
        ...

    @property
    def controls(self) -> tuple[AppliedControl, ...]:
        """Optimizer-step controls that first apply to it."""
        ...


class Controls:
    """Executes user commands. Used only by the loop's thread."""

    def __init__(
        self,
        steering: Steering,
        rewards: RewardVersions | None,
        link: Link,
        saving: Saving,
        update_dispatch: Callable[[RunSpec], None],
    ) -> None:
        """``update_dispatch`` receives the spec after dispatch controls have been applied. ``rewards`` learns of the
        definitions in commands; None for a run without rewards."""
        self._steering, self._rewards, self._link, self._saving = steering, rewards, link, saving
        self._update_dispatch = update_dispatch
        self._unsettled: list[AppliedControl] = []
        """Dispatch controls under which no complete batch has been dispatched yet."""

    def apply(
        self, boundary: Boundary, step: int, group: str, version: int, after: int | None = None
    ) -> list[AppliedControl]:
        """Apply the controls that are due, and request the checkpoint before them.

        Args:
            boundary: the boundary that the loop is at.
            step: the first step that they affect.
            group: the first group that they affect.
            version: version of the weights that the learner holds.
            after: the last step that has been learned; None if every step has updated the weights.

        Returns:
            The controls whose fields belong to ``boundary``. Dispatch fields whose set makes them wait for the
            optimizer step count from the next dispatch.
        """
        commands = self._link.commands()
        if not commands and not self._steering.ramps:
            return []
        if self._rewards is not None:
            self._rewards.take_in(commands)
        applied, refused = self._steering.apply(commands, boundary, step)
        self._link.control(*(self._effect(control, boundary, step, group, version) for control in applied))
        for control in applied:
            if self._steering.spec.checkpoint.before_control:
                self._saving.wish(version if after is None else after, "before_control", control.control_id)
        self._link.control(
            *(Applied(control_id=r.control_id, state="rejected", step=step, error=r.error) for r in refused)
        )
        moving = [ramp.control for ramp in self._steering.ramps.at(boundary)]
        in_effect = [*applied, *self._advance(boundary, step, version)]
        of_dispatch = [control for control in in_effect if control.boundary == "group_dispatch"]
        self._unsettled += [control for control in of_dispatch if not control.is_under_way]
        if any(control.boundary == "group_dispatch" for control in (*applied, *moving)):
            self._update_dispatch(self._steering.spec)
        return [control for control in in_effect if control.boundary == boundary]

    def _advance(self, boundary: Boundary, step: int, version: int) -> list[AppliedControl]:
        """Move the ramps. Finished ones settle like any control; those ended by a later control settle immediately."""
        ended, objections = self._steering.advance(boundary, step)
        for objection in objections:
            message = f"A ramp stays at its value: {objection}"
            self._link.emit(LogData(level="warn", message=message), step)
        for one in self._steering.ramps.ended_early():
            self._link.control(Applied(control_id=one.control_id, state="settled", step=step, policy_version=version))
        return ended

    def settle(self, batch: Steered, version: int | None = None) -> None:
        """Settle update controls with their update, and dispatch controls with the first batch fully under them.

        ``version`` is that of the weights after the batch; None if every step has updated them.
        """
        version = batch.step if version is None else version
        oldest = batch.applications
        settled = [control for control in self._unsettled if control.application <= oldest]
        self._unsettled = [control for control in self._unsettled if control.application > oldest]
        self._link.control(
            *(
                Applied(control_id=one.control_id, state="settled", step=batch.step, policy_version=version)
                for one in (*settled, *batch.controls)
                if not one.is_under_way
            )
        )

    def _effect(self, control: AppliedControl, boundary: Boundary, step: int, group: str, version: int) -> Applied:
        first = group if control.boundary == boundary else None
        return Applied(control_id=control.control_id, state="applied", step=step, group=first, policy_version=version)

    def wish_requested(self, step: int) -> None:
        """Request the checkpoints of the state after ``step`` that users have asked for."""
        for request in self._steering.requested_checkpoints(self._link.commands()):
            self._saving.wish(step, "requested", request)

"""Commands of people, carried out for the loop: controls applied and reported, checkpoints wished for."""

from __future__ import annotations

from trainer_core.spec.base import Boundary
from worker.link.client import Link
from worker.loop.saving import Saving
from worker.loop.steering import Steering
from worker.messages.control import AppliedControl
from worker.messages.ticket import Batch
from worker.rewards.versions import RewardVersions


class Controls:
    """Used by the loop's thread alone."""

    def __init__(self, steering: Steering, rewards: RewardVersions, link: Link, saving: Saving) -> None:
        self._steering, self._rewards, self._link, self._saving = steering, rewards, link, saving
        self._unsettled: list[AppliedControl] = []
        """Controls of the dispatch that no whole batch has been dispatched under yet."""

    def apply(self, boundary: Boundary, step: int, group: str, version: int) -> list[AppliedControl]:
        """Apply the controls that are due, and wish for the checkpoint before them.

        Args:
            boundary: at which the loop stands.
            step: that is the first to feel them.
            group: likewise.
            version: weights that the learner holds.
        """
        commands = self._link.commands()
        if not commands:
            return []
        self._rewards.take_in(commands)
        applied, refused = self._steering.apply(commands, boundary, step)
        for control in applied:
            self._link.control(control.control_id, "applied", step=step, group=group, policy_version=version)
            if self._steering.spec.checkpoint.before_control:
                self._saving.wish(version, "before_control", control.control_id)
        for refusal in refused:
            self._link.control(refusal.control_id, "rejected", step=step, error=refusal.error)
        if boundary == "group_dispatch":
            self._unsettled += applied
        return applied

    def settle(self, batch: Batch) -> None:
        """Controls of the update settle with it; those of the dispatch with the first batch that is wholly theirs."""
        oldest = min(group.steering_revision for group in batch.groups)
        settled = [control for control in self._unsettled if control.revision <= oldest]
        self._unsettled = [control for control in self._unsettled if control.revision > oldest]
        for control in (*settled, *batch.controls):
            self._link.control(control.control_id, "settled", step=batch.step, policy_version=batch.step)

    def wish_requested(self, step: int) -> None:
        """Wish for the checkpoints of the state after ``step`` that people have asked for."""
        for request in self._steering.requested_checkpoints(self._link.commands()):
            self._saving.wish(step, "requested", request)

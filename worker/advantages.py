"""What happens to a batch between scoring and learning: failed rewards, advantages, filters."""

from __future__ import annotations

from trainer_core.methods import filters
from trainer_core.methods.advantages.assign import assign
from trainer_core.spec import RunSpec
from trainer_core.trajectory import Group


def assign_advantages(groups: list[Group], spec: RunSpec) -> None:
    """Write each trajectory's advantage and why it is left out of the loss, if it is.

    A reward that failed is left out, unless the spec asks for a zero; its error stays visible in both cases.
    """
    if spec.reward.on_error == "zero":
        for trajectory in (t for group in groups for t in group.trajectories):
            if trajectory.reward_error is not None:
                trajectory.reward = 0.0
    filters.prepare(spec.filters, groups)
    assign(spec.advantage, groups, minibatches=spec.schedule.updates_per_step)
    filters.apply(spec.filters, groups, spec.advantage.compares)

"""Treatment of a batch between scoring and learning: failed rewards, advantages, filters."""

from __future__ import annotations

from collections.abc import Sequence

from trainer_core.methods import filters
from trainer_core.methods.advantages.assign import assign
from trainer_core.rewards.length import reweigh, shape
from trainer_core.spec import RunSpec
from trainer_core.trajectory import Group


def assign_advantages(groups: list[Group], spec: RunSpec, dispatched: Sequence[RunSpec] = ()) -> None:
    """Write each trajectory's advantage and why it is left out of the loss, if it is.

    A reward that failed is left out, unless the spec asks for a zero; its error stays visible in both cases.

    Args:
        groups: scored.
        spec: decides how the batch is treated.
        dispatched: the spec of each group at its dispatch, which lengths are shaped by; empty: ``spec`` for all.
    """
    dispatched = dispatched or [spec] * len(groups)
    if spec.reward.on_error == "zero":
        for trajectory in (t for group in groups for t in group.trajectories):
            if trajectory.reward_error is not None:
                trajectory.reward = 0.0
    shape(groups, dispatched)
    filters.prepare(spec.filters, groups)
    assign(spec.advantage, groups, minibatches=spec.schedule.updates_per_step)
    reweigh(groups, dispatched)
    filters.apply(spec.filters, groups, spec.compares)

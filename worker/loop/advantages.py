"""Processing of a batch between scoring and learning: failed rewards, advantages, filters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trainer_core.episodes import Group
from trainer_core.methods import filters
from trainer_core.methods.advantages.assign import assign, mark_compared
from trainer_core.rewards.length import reweigh, shape
from trainer_core.spec import RunSpec
from trainer_core.spec.methods.kinds import ComparingAdvantage


def assign_advantages(groups: list[Group], spec: RunSpec, dispatched: Sequence[RunSpec] = ()) -> None:
    """Set each trajectory's advantage and, if it is left out of the loss, the reason.

    A trajectory whose reward failed is left out unless the spec scores it zero. Its error stays visible either way.

    Args:
        groups: scored groups.
        spec: how the batch is processed.
        dispatched: each group's spec at dispatch, used to shape lengths; if empty, ``spec`` for all.
    """
    dispatched = dispatched or [spec] * len(groups)
    if spec.reward.on_error == "zero":
        for trajectory in (t for group in groups for t in group.trajectories):
            if trajectory.verdict.error is not None:
                trajectory.verdict = replace(trajectory.verdict, reward=0.0)
    shape(groups, dispatched)
    filters.prepare(spec.filters, groups)
    if isinstance(spec.advantage, ComparingAdvantage) and spec.advantage.counted == "learned":
        filters.apply_before_rewards(spec.filters, groups)
    mark_compared(spec.advantage, groups)
    assign(spec.advantage, groups, minibatches=spec.schedule.updates_per_step)
    reweigh(groups, dispatched)
    filters.apply(spec.filters, groups, spec.compares)

"""Over-sampling: more groups are drawn than learned from; those with a signal are kept first."""

import math
from collections.abc import Sequence

from trainer_core.spec.run import RunSpec
from trainer_core.trajectory import Group


def draw_count(spec: RunSpec) -> int:
    """Prompts to draw for a step: ``prompts_per_step``, times the factor, rounded up."""
    spare, wanted = spec.batching.oversampling, spec.schedule.prompts_per_step
    return wanted if spare is None else math.ceil(wanted * spare.factor - 1e-9)


def select(groups: Sequence[Group], spec: RunSpec) -> tuple[list[Group], list[Group]]:
    """The groups that are learned from, and those left over; both in the order of dispatch.

    Groups whose known rewards differ come first; where they are too few, others fill up, in the order of dispatch.

    Args:
        groups: all that were drawn for the step, scored.
        spec: under which they were dispatched.
    """
    wanted = spec.schedule.prompts_per_step
    if spec.batching.oversampling is None or len(groups) <= wanted:
        return list(groups), []
    ranked = sorted(range(len(groups)), key=lambda index: not has_signal(groups[index]))
    kept = set(ranked[:wanted])
    return (
        [group for index, group in enumerate(groups) if index in kept],
        [group for index, group in enumerate(groups) if index not in kept],
    )


def has_signal(group: Group) -> bool:
    """Whether the rewards that could be computed differ within the group."""
    return len({t.reward for t in group.trajectories if t.reward is not None and t.reward_error is None}) > 1

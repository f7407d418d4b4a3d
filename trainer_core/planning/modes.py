"""The loop's modes as the planner's model knows them."""

from trainer_core.planning.workload import LoopMode
from trainer_core.spec import RunSpec

DEFAULT_STALENESS = 1
"""Bound of the overlapping modes where the spec itself names none."""


def chosen_mode(spec: RunSpec) -> LoopMode:
    """The mode that ``spec`` asks for."""
    return next(mode for mode in all_modes(spec) if mode.name == spec.rollout.mode.type)


def all_modes(spec: RunSpec) -> tuple[LoopMode, ...]:
    """Every mode, with the spec's own bound where it has one."""
    bound = int(getattr(spec.rollout.mode, "max_staleness", DEFAULT_STALENESS)) or DEFAULT_STALENESS
    return (
        LoopMode("sync"),
        LoopMode("streamed", streams=True),
        LoopMode("async", max_staleness=bound),
        LoopMode("in_flight", max_staleness=bound, interrupts=True),
    )

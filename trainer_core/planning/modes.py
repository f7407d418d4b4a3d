"""The loop's modes as the planner's model knows them."""

from typing import Any

from trainer_core.planning.workload import LoopMode
from trainer_core.spec import RunSpec
from trainer_core.spec.rollout import AsyncMode, Rollout

IN_FLIGHT_STALENESS = 4
"""Bound of a loop in flight where the spec is of another mode."""


def chosen_mode(spec: RunSpec) -> LoopMode:
    """The mode that ``spec`` asks for."""
    return next(mode for mode in all_modes(spec) if mode.name == spec.rollout.mode.type)


def all_modes(spec: RunSpec) -> tuple[LoopMode, ...]:
    """Every mode: the spec's own with its settings, the others with their defaults."""
    rollout = spec.rollout
    own: Any = rollout.mode
    overlapped: Any = own if own.type == "async" else AsyncMode()
    interrupts = bool(getattr(overlapped, "interruptible", False))
    return (
        _sync(rollout),
        LoopMode("streamed", streams=True),
        LoopMode(
            "async",
            max_staleness=overlapped.max_staleness,
            interrupts=interrupts,
            recomputes_kv=interrupts and _recomputes(rollout, default=True),
        ),
        LoopMode(
            "in_flight",
            max_staleness=own.max_staleness if own.type == "in_flight" else IN_FLIGHT_STALENESS,
            interrupts=True,
            recomputes_kv=_recomputes(rollout, default=False),
        ),
    )


def _sync(rollout: Rollout) -> LoopMode:
    """With over-provisioning, what a full batch leaves unfinished is continued under the next weights."""
    partial = getattr(rollout, "partial", None)
    if partial is None or partial.over_provision <= 1.0 or rollout.mode.type != "sync":
        return LoopMode("sync")
    return LoopMode("sync", surplus=partial.over_provision - 1.0, recomputes_kv=True)


def _recomputes(rollout: Rollout, *, default: bool) -> bool:
    """Whether running sequences compute keys and values anew; ``default`` where the spec leaves it to the mode."""
    asked = getattr(rollout, "kv_on_update", None)
    return default if asked is None else asked == "recompute"

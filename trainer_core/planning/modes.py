"""The loop's modes as the planner's model knows them."""

from trainer_core.planning.workload import LoopMode
from trainer_core.spec import RunSpec
from trainer_core.spec.generation.rollout import AsyncMode, InFlightMode, Rollout


def chosen_mode(spec: RunSpec) -> LoopMode:
    """The mode of ``spec``."""
    return next(mode for mode in all_modes(spec) if mode.name == spec.rollout.mode.type)


def all_modes(spec: RunSpec) -> tuple[LoopMode, ...]:
    """Every mode: the spec's own with its settings, the others with their defaults."""
    rollout = spec.rollout
    overlapped = rollout.mode if isinstance(rollout.mode, AsyncMode) else AsyncMode()
    in_flight = rollout.mode if isinstance(rollout.mode, InFlightMode) else InFlightMode()
    # With over-provisioning, groups that a full batch leaves unfinished continue under the next weights.
    surplus = rollout.partial.over_provision - 1.0
    return (
        LoopMode("sync", surplus=surplus, recomputes_kv=surplus > 0),
        LoopMode("streamed", streams=True),
        LoopMode(
            "async",
            max_staleness=overlapped.max_staleness,
            interrupts=overlapped.interruptible,
            recomputes_kv=overlapped.interruptible and _recomputes(rollout, default=True),
        ),
        LoopMode(
            "in_flight",
            max_staleness=in_flight.max_staleness,
            interrupts=True,
            recomputes_kv=_recomputes(rollout, default=False),
        ),
    )


def _recomputes(rollout: Rollout, *, default: bool) -> bool:
    """Whether running sequences recompute keys and values; ``default`` if the spec leaves it to the mode."""
    return default if rollout.kv_on_update is None else rollout.kv_on_update == "recompute"

"""Objections of each kind of guard on one metric, given the values reported so far."""

import math
from collections.abc import Mapping, Sequence

from trainer_core.spec.operation.guards import Guard, HeldOutFalls, MetricBound, MetricChange, MetricStuck

SOLVED = 0.9
"""Share of successful samples above which little is left to learn."""
_PASSED = "train/pass_rate/"


def solved(metrics: Mapping[str, float]) -> bool:
    """Whether nearly all samples of a step succeed, as the mean over its sources."""
    rates = [value for name, value in metrics.items() if name.startswith(_PASSED)]
    return bool(rates) and math.fsum(rates) / len(rates) >= SOLVED


def memory(guard: Guard) -> int:
    """Number of earlier values that the guard needs."""
    match guard:
        case MetricBound():
            return 0
        case MetricChange():
            return guard.window
        case MetricStuck():
            return guard.for_steps - 1
        case HeldOutFalls():
            return 0


def patience(guard: Guard) -> int:
    """Consecutive objections before the guard acts."""
    return 1 if isinstance(guard, MetricStuck) else guard.for_steps


def objection(guard: Guard, value: float, past: Sequence[float]) -> str | None:
    """Reason why the guard objects to ``value``; None if it does not.

    Args:
        guard: the guard.
        value: the value reported now.
        past: the earlier values, oldest first, at most ``memory(guard)``.
    """
    if math.isnan(value):
        return "not a number"
    match guard:
        case MetricBound():
            return _outside(guard, value)
        case MetricChange():
            return _changed(guard, value, past)
        case MetricStuck():
            return _stuck(guard, value, past)
        case HeldOutFalls():
            return None  # see ``held_out``


def _outside(guard: MetricBound, value: float) -> str | None:
    if guard.min is not None and value < guard.min:
        return f"below {guard.min:g}"
    if guard.max is not None and value > guard.max:
        return f"above {guard.max:g}"
    return None


def _changed(guard: MetricChange, value: float, past: Sequence[float]) -> str | None:
    if len(past) < guard.window:
        return None
    mean = math.fsum(past) / len(past)
    rise = value - mean
    if guard.max_rise is not None and rise > guard.max_rise * abs(mean):
        return f"more than {guard.max_rise:.0%} above its mean of {mean:.4g}"
    if guard.max_fall is not None and -rise > guard.max_fall * abs(mean):
        return f"more than {guard.max_fall:.0%} below its mean of {mean:.4g}"
    return None


def _stuck(guard: MetricStuck, value: float, past: Sequence[float]) -> str | None:
    if len(past) < guard.for_steps - 1:
        return None
    values = [*past, value]
    if max(values) - min(values) > guard.tolerance:
        return None
    return f"within {guard.tolerance:g} of itself" if guard.tolerance else "stuck"

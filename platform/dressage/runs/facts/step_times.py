"""Seconds of a run's recent steps, by phase, and estimates for the next ones."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, variance
from typing import Any

KEPT = 100
"""Number of steps whose times are stored: old ones say little about the next."""
LEAST = 5
"""Minimum number of steps for a statement about the spread."""
_EIGHTY_PERCENT = 1.2816
"""Half the width of the interval that holds 80 % of a normal distribution, in standard deviations."""
_SHARE = 0.95

StepTimes = dict[str, list[float]]
"""Seconds of the recent steps, oldest first, by ``step`` (the total) and by phase."""


def with_step(known: Mapping[str, Sequence[float]], seconds: float, metrics: Mapping[str, float]) -> StepTimes:
    """Times with one more step. Its phases are sequential: waiting for a batch is ``generate``, the rest ``learn``."""
    found = {"step": seconds}
    waited = metrics.get("timing_s/wait")
    if waited is not None and math.isfinite(waited):
        found |= {"generate": waited, "learn": max(0.0, seconds - waited)}
    return {name: [*known.get(name, ()), round(value, 3)][-KEPT:] for name, value in found.items()}


def p95_by_phase(known: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """The 95th percentile of the recent steps' times, by phase; empty while there are too few steps."""
    found = {name: sorted(times) for name, times in known.items() if name != "step" and len(times) >= LEAST}
    return {name: times[math.ceil(_SHARE * len(times)) - 1] for name, times in found.items()}


def range_left(known: Mapping[str, Sequence[float]], steps: int) -> tuple[float, float] | None:
    """The 80 % interval, in seconds, of the time for ``steps`` more steps, if they are like the recent ones.

    It adds two variances: that of a sum of so many steps, and that of the mean of the recent ones. None while there are
    too few of them.
    """
    times: Any = known.get("step", ())
    if len(times) < LEAST:
        return None
    spread = math.sqrt(variance(times) * steps * (1 + steps / len(times)))
    mean = fmean(times) * steps
    return max(0.0, mean - _EIGHTY_PERCENT * spread), mean + _EIGHTY_PERCENT * spread

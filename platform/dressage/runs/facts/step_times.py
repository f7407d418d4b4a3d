"""Seconds of a run's last steps, by phase, and what they let people expect of the next."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, variance
from typing import Any

KEPT = 100
"""Steps whose times are kept: what was long ago says little of the next."""
LEAST = 5
"""Steps below which nothing is said of a spread."""
_EIGHTY_PERCENT = 1.2816
"""Half the width of the interval that holds 80 % of a normal distribution, in standard deviations."""
_SHARE = 0.95

StepTimes = dict[str, list[float]]
"""Seconds of the last steps, oldest first, by ``step`` (the whole) and by phase."""


def with_step(known: Mapping[str, Sequence[float]], seconds: float, metrics: Mapping[str, float]) -> StepTimes:
    """The times with one more step. Its phases follow one another: waiting for a batch is ``generate``, the rest
    ``learn``."""
    found = {"step": seconds}
    waited = metrics.get("timing_s/wait")
    if waited is not None and math.isfinite(waited):
        found |= {"generate": waited, "learn": max(0.0, seconds - waited)}
    return {name: [*known.get(name, ()), round(value, 3)][-KEPT:] for name, value in found.items()}


def p95_by_phase(known: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """The time that 95 % of the last steps stayed within, by phase; none while there are too few of them."""
    found = {name: sorted(times) for name, times in known.items() if name != "step" and len(times) >= LEAST}
    return {name: times[math.ceil(_SHARE * len(times)) - 1] for name, times in found.items()}


def range_left(known: Mapping[str, Sequence[float]], steps: int) -> tuple[float, float] | None:
    """Seconds within which ``steps`` more steps end in 80 % of cases, if they are like the last ones.

    The spread of a sum of that many, and how far the mean of the last ones may be off, added as variances. None while
    there are too few of them.
    """
    times: Any = known.get("step", ())
    if len(times) < LEAST:
        return None
    spread = math.sqrt(variance(times) * steps * (1 + steps / len(times)))
    mean = fmean(times) * steps
    return max(0.0, mean - _EIGHTY_PERCENT * spread), mean + _EIGHTY_PERCENT * spread

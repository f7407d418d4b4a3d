"""Confidence intervals of pass rates."""

import math

_Z = 1.959963984540054
"""Quantile of the normal distribution for 95 % intervals."""


def wilson_interval(samples: int, correct: int) -> tuple[float, float]:
    """The 95 % score interval of Wilson (1927): it stays within 0 and 1, and has a width even if all samples agree.

    Raises:
        ValueError: there is no sample.
    """
    if samples < 1:
        raise ValueError("an interval needs a sample")
    rate, z2 = correct / samples, _Z * _Z
    centre = (rate + z2 / (2 * samples)) / (1 + z2 / samples)
    half = _Z / (1 + z2 / samples) * math.sqrt(rate * (1 - rate) / samples + z2 / (4 * samples * samples))
    low = 0.0 if correct == 0 else max(0.0, centre - half)
    high = 1.0 if correct == samples else min(1.0, centre + half)
    return low, high

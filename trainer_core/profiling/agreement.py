"""Agreement of two raters who say yes or no about the same items: Cohen's kappa and its interval.

Sources: Cohen (1960), A coefficient of agreement for nominal scales; Fleiss, Cohen and Everitt (1969), Large sample
standard errors of kappa and weighted kappa.
"""

import math
from dataclasses import dataclass

_Z = 1.959963984540054
"""Quantile of the normal distribution for 95 % intervals."""


@dataclass(frozen=True, slots=True)
class Kappa:
    """Agreement beyond chance: 1 is perfect, 0 is chance level."""

    value: float
    low: float
    """Lower end of the 95 % interval, at least -1."""
    high: float
    """Upper end, at most 1."""


def cohen_kappa(both_yes: int, first_only: int, second_only: int, both_no: int) -> Kappa | None:
    """Kappa of a table of counts.

    Returns:
        None if there are no ratings, or if chance alone explains full agreement: both always give the same rating.

    Raises:
        ValueError: a count is negative.
    """
    counts = ((both_yes, first_only), (second_only, both_no))
    if min(both_yes, first_only, second_only, both_no) < 0:
        raise ValueError("a count is negative")
    total = both_yes + first_only + second_only + both_no
    if total == 0:
        return None
    shares = [[count / total for count in row] for row in counts]
    first = [sum(row) for row in shares]
    second = [shares[0][side] + shares[1][side] for side in range(2)]
    observed = shares[0][0] + shares[1][1]
    chance = sum(a * b for a, b in zip(first, second, strict=True))
    if both_yes == total or both_no == total:
        return None
    value = (observed - chance) / (1 - chance)
    alike = sum(
        shares[side][side] * ((1 - chance) - (first[side] + second[side]) * (1 - observed)) ** 2 for side in range(2)
    )
    apart = sum(shares[a][b] * (second[a] + first[b]) ** 2 for a, b in ((0, 1), (1, 0)))
    spread = alike + (1 - observed) ** 2 * apart - (observed * chance - 2 * chance + observed) ** 2
    half = _Z * math.sqrt(max(spread, 0.0) / total) / (1 - chance) ** 2
    return Kappa(value, max(value - half, -1.0), min(value + half, 1.0))

"""The prior of pass rates: the maximum-likelihood Beta distribution for the counts of all rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trainer_core.profiling.tally import States

_MEANS = tuple(step / 20 for step in range(1, 20))
WEIGHTS = (0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 13.0, 20.0)
"""Sums of both parameters. The smallest fits a version whose rows are solved either always or never."""
_LEAST_ROWS = 20
"""Fewest rows for a fit."""


@dataclass(frozen=True, slots=True)
class BetaPrior:
    """Pass rates before anything is known about a row: Beta(a, b). The default is uniform."""

    a: float = 1.0
    b: float = 1.0

    @property
    def mean(self) -> float:
        """Mean pass rate."""
        return self.a / (self.a + self.b)


UNIFORM = BetaPrior()


def fit_prior(states: States, otherwise: BetaPrior = UNIFORM, weights: Sequence[float] = WEIGHTS) -> BetaPrior:
    """The maximum-likelihood prior on a grid.

    The decision to stop sampling a row depends on its counts alone, so it does not affect the likelihood.

    Args:
        states: the counts.
        otherwise: result if fewer than 20 rows have samples.
        weights: sums of both parameters to try.
    """
    if sum(states.values()) < _LEAST_ROWS:
        return otherwise
    grid = [BetaPrior(mean * weight, (1 - mean) * weight) for mean in _MEANS for weight in weights]
    samples, correct = np.array(list(states), np.int64).T
    rows = np.array(list(states.values()), np.float64)

    def log_likelihood(prior: BetaPrior) -> float:
        right, wrong, both = (_rising(start, int(samples.max())) for start in (prior.a, prior.b, prior.a + prior.b))
        return float(rows @ (right[correct] + wrong[samples - correct] - both[samples]))

    return max(grid, key=log_likelihood)


def _rising(start: float, most: int) -> NDArray[np.float64]:
    """ln Γ(start + n) − ln Γ(start) for n from 0 to ``most``."""
    return np.array([math.lgamma(start + n) for n in range(most + 1)]) - math.lgamma(start)

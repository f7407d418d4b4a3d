"""The prior of pass rates: the Beta distribution under which the counts of all rows are likeliest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trainer_core.profiling.tally import States

_MEANS = tuple(step / 20 for step in range(1, 20))
WEIGHTS = (0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 13.0, 20.0)
"""Sums of both parameters. The smallest is a version of rows that are all solved always or never."""
_LEAST_ROWS = 20
"""Rows below which nothing is fitted."""


@dataclass(frozen=True, slots=True)
class BetaPrior:
    """Pass rates before anything of their row is known: Beta(a, b). The default is uniform."""

    a: float = 1.0
    b: float = 1.0

    @property
    def mean(self) -> float:
        """Mean pass rate."""
        return self.a / (self.a + self.b)


UNIFORM = BetaPrior()


def fit_prior(states: States, otherwise: BetaPrior = UNIFORM, weights: Sequence[float] = WEIGHTS) -> BetaPrior:
    """The prior of largest likelihood on a grid.

    When to stop sampling a row was decided by its counts alone, so it changes nothing in the likelihood.

    Args:
        states: the counts.
        otherwise: what is answered where fewer than 20 rows tell.
        weights: sums of both parameters that are tried.
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

"""Change of a metric's level at a control, beyond its trend and its noise.

The line through the values before the control is extrapolated. The change is the mean of the values after it, minus the
line there. Its interval treats the values around the line as first-order autocorrelated. The autocorrelation φ is that
of the residuals, corrected for the bias of short series and raised by its standard error. Variance and degrees of
freedom are those of that many correlated values.

Sources: the bias (2 + 4φ)/n of a series around its line, Marriott and Pope, *Bias in the estimation of
autocorrelations*, Biometrika 41, 1954; the equivalent sample size n(1 − φ)/(1 + φ), Zwiers and von Storch, *Taking
serial correlation into account in tests of the mean*, Journal of Climate 8, 1995; degrees of freedom of two unequal
variances, Welch, Biometrika 34, 1947.

The line is always subtracted, even if it is not significant: a trend too weak to be significant within the window still
moves the mean between the windows, and would be reported as an effect.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trainer_core.steering.effects.student import quantile

LEAST = 8
"""Values that each window needs."""
_HIGHEST = 0.95
"""Largest autocorrelation that is considered: beyond it, such a short series carries no information."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Shift:
    """Move of a level, in the metric's unit."""

    before: float
    """Mean of the values before."""
    after: float
    """Mean of the values after."""
    expected: float
    """Value of the line through the values before, at the middle of the window after."""
    change: float
    """``after − expected``."""
    error: float
    """Standard error of the change; 0 if all values lie on their lines."""
    freedom: float
    """Degrees of freedom of the error, at least 1."""
    autocorrelation: float
    """φ, from 0 to 0.95."""

    def within(self, chance: float) -> tuple[float, float]:
        """Interval that misses the true change with probability ``chance``."""
        if self.error == 0.0:
            return self.change, self.change
        reach = quantile(chance / 2, self.freedom) * self.error
        return self.change - reach, self.change + reach


def shift(
    steps_before: Sequence[float], before: Sequence[float], steps_after: Sequence[float], after: Sequence[float]
) -> Shift | None:
    """The change between two windows; None if one holds fewer than ``LEAST`` values. All values are finite."""
    if min(len(before), len(after)) < LEAST:
        return None
    x, y = np.asarray(steps_before, dtype=np.float64), np.asarray(before, dtype=np.float64)
    later, z = np.asarray(steps_after, dtype=np.float64), np.asarray(after, dtype=np.float64)
    # Scaled to unit size, squares neither vanish nor overflow, and rounding can be told from noise.
    largest = max(float(np.abs(y).max()), float(np.abs(z).max()))
    if largest == 0.0:
        return Shift(0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0)
    scale = math.ldexp(1.0, math.frexp(largest)[1] - 1)  # a power of two, so no digit is lost
    y, z = y / scale, z / scale
    left, right = _residuals(x, y), _residuals(later, z)
    phi = _autocorrelation(left, right)
    centred = x - x.mean()
    # The line at the mean of the later steps is a weighted sum of the values before.
    weights = 1.0 / len(x) + centred * (later.mean() - x.mean()) / (centred @ centred)
    first = _variance(x, left, weights, phi)
    second = _variance(later, right, np.full(len(later), 1.0 / len(later)), phi)
    expected = float(weights @ y)
    change = float(z.mean()) - expected
    total = first + second
    freedom = 1.0
    if total > 0.0:
        parts = first**2 / _freedom(len(x), phi, 2) + second**2 / _freedom(len(later), phi, 2)
        freedom = total**2 / parts
    if total == 0.0 and abs(change) <= 1e-9:
        change = 0.0  # rounding of a line without noise
    means = scale * float(y.mean()), scale * float(z.mean())
    return Shift(*means, scale * expected, scale * change, scale * math.sqrt(total), freedom, phi)


def _residuals(x: Floats, y: Floats) -> Floats:
    """Residuals of values from their own line; exactly 0 if they are only rounding."""
    centred = x - x.mean()
    found = y - y.mean() - centred * (centred @ y) / (centred @ centred)
    return np.where(np.abs(found) < 1e-12, 0.0, found)


def _autocorrelation(*residuals: Floats) -> float:
    """Pooled lag-1 autocorrelation of the windows, corrected for bias, from 0 to ``_HIGHEST``."""
    squares = math.fsum(float(one @ one) for one in residuals)
    if squares == 0.0:
        return 0.0
    raw = math.fsum(float(one[:-1] @ one[1:]) for one in residuals) / squares
    # Each window has its own bias from fitting a line.
    shorter = math.fsum(len(one) for one in residuals) / len(residuals)
    corrected = max((raw + 2.0 / shorter) / (1.0 - 4.0 / shorter), 0.0)
    doubt = math.sqrt(max(1.0 - corrected**2, 0.0) / sum(len(one) for one in residuals))
    return min(corrected + doubt, _HIGHEST)


def _variance(x: Floats, residuals: Floats, weights: Floats, phi: float) -> float:
    """Variance of the weighted sum of values whose neighbours have correlation ``phi``."""
    places = np.arange(len(x))
    correlation = phi ** np.abs(places[:, None] - places[None, :])
    centred = (x - x.mean()) / math.sqrt(float((x - x.mean()) @ (x - x.mean())))
    # What is left of the correlated values after mean and slope are removed: tr(M R).
    flat = correlation.sum() / len(x) + centred @ correlation @ centred
    noise = float(residuals @ residuals) / (len(x) - float(flat))
    return noise * float(weights @ correlation @ weights)


def _freedom(count: int, phi: float, lost: int) -> float:
    return max(1.0, count * (1.0 - phi) / (1.0 + phi) - lost)

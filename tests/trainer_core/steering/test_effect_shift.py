"""Changes of a level against planted ones, and against noise, autocorrelation and trends where nothing happened."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from trainer_core.steering.effects.shift import LEAST, Shift, shift
from trainer_core.steering.effects.student import quantile

DRAIN = 2
SERIES = 400


def noisy(rng: np.random.Generator, count: int, phi: float, slope: float) -> NDArray[np.float64]:
    """A line with noise of unit innovations whose neighbours correlate by ``phi``, from its stationary law on."""
    noise = rng.standard_normal(count)
    noise[0] /= math.sqrt(1.0 - phi**2)
    for index in range(1, count):
        noise[index] += phi * noise[index - 1]
    return noise + slope * np.arange(count)


def compared(values: NDArray[np.float64], before: int, start: int) -> Shift:
    """The change between the first ``before`` values and those from ``start`` on."""
    after = range(start, len(values))
    found = shift(range(before), values[:before].tolist(), after, values[start:].tolist())
    assert found is not None
    return found


def claims(before: int, after: int, phi: float, slope: float, chance: float, planted: float = 0.0) -> float:
    """Share of series of which a change is claimed."""
    rng = np.random.default_rng(11)
    start, hits = before + DRAIN, 0
    for _ in range(SERIES):
        values = noisy(rng, start + after, phi, slope)
        values[start:] += planted
        low, high = compared(values, before, start).within(chance)
        hits += not low <= 0.0 <= high
    return hits / SERIES


@pytest.mark.parametrize("slope", [0.0, -0.5])
@pytest.mark.parametrize("phi", [0.0, 0.4, 0.7])
@pytest.mark.parametrize(("before", "after"), [(40, 20), (20, 8), (8, 8)])
def test_nothing_is_claimed_more_often_than_stated(before: int, after: int, phi: float, slope: float) -> None:
    assert claims(before, after, phi, slope, 0.05) <= 0.05


def test_a_planted_change_is_found_under_a_trend() -> None:
    assert claims(40, 20, 0.0, 0.3, 0.05, planted=3.0) >= 0.95
    assert claims(40, 20, 0.4, 0.3, 0.05, planted=5.0) >= 0.95
    # Among 150 others.
    assert claims(40, 20, 0.0, 0.3, 0.05 / 150, planted=5.0) >= 0.95


def test_a_change_of_the_slope_is_found() -> None:
    """Reward that rose and then falls has no jump at the change, and yet the change did it."""
    rng = np.random.default_rng(3)
    values = noisy(rng, 60, 0.0, 0.0) + 0.5 * np.minimum(np.arange(60), 40) - 0.5 * np.maximum(np.arange(60) - 40, 0)
    low, high = compared(values, 40, 40).within(0.05)
    assert low < high < 0.0


def test_numbers_of_a_change_without_noise() -> None:
    before, after = [0.5 * step for step in range(10)], [0.5 * step + 3.0 for step in range(12, 20)]
    found = shift(range(10), before, range(12, 20), after)
    assert found is not None
    assert (found.before, found.after) == pytest.approx((2.25, 10.75), abs=1e-12)
    assert found.expected == pytest.approx(7.75, abs=1e-12)
    assert found.within(0.05) == pytest.approx((3.0, 3.0), abs=1e-12)
    same = shift(range(10), before, range(12, 20), [one - 3.0 for one in after])
    assert same is not None
    assert (same.change, same.within(0.05)) == (0.0, (0.0, 0.0))


def test_the_interval_of_white_noise_is_that_of_the_forecast() -> None:
    """Alternating residuals have no positive autocorrelation: only the doubt about it widens the interval."""
    before = [1.0 if step % 2 else -1.0 for step in range(40)]
    after = [1.0 if step % 2 else -1.0 for step in range(40, 60)]
    found = shift(range(40), before, range(40, 60), after)
    assert found is not None
    assert found.autocorrelation == pytest.approx(1 / math.sqrt(60))
    centred = np.arange(40.0) - 19.5
    plain = 1 / 40 + (49.5 - 19.5) ** 2 / (centred @ centred) + 1 / 20
    phi = found.autocorrelation
    assert found.error**2 == pytest.approx(plain * (1 + phi) / (1 - phi), rel=0.1)


def test_scale_does_not_matter() -> None:
    rng = np.random.default_rng(5)
    values = noisy(rng, 30, 0.3, 0.1)
    plain = compared(values, 20, 20)
    for scale in (1e-300, 1e-12, 1e300):
        scaled = compared(scale * values, 20, 20)
        assert (scaled.change, scaled.error) == pytest.approx((scale * plain.change, scale * plain.error), rel=1e-9)


def test_few_values_are_not_compared() -> None:
    assert shift(range(LEAST - 1), [0.0] * (LEAST - 1), range(10, 20), [1.0] * 10) is None
    assert shift(range(10), [0.0] * 10, range(10, 9 + LEAST), [1.0] * (LEAST - 1)) is None
    zeros = shift(range(10), [0.0] * 10, range(10, 20), [0.0] * 10)
    assert zeros is not None
    assert zeros.within(0.05) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("upper", "freedom", "value"),
    # From the tables of Student's t distribution.
    [(0.025, 1, 12.7062), (0.025, 10, 2.22814), (0.0005, 5, 6.86883), (0.0001, 30, 4.23399), (0.05, 120, 1.65765)],
)
def test_quantiles(upper: float, freedom: float, value: float) -> None:
    assert quantile(upper, freedom) == pytest.approx(value, rel=1e-5)

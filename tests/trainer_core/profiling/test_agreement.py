"""Cohen's kappa and its interval, against published figures and the delta method."""

import math

import pytest

from trainer_core.profiling.agreement import cohen_kappa


def by_definition(table: list[float]) -> float:
    """Kappa of [both yes, first only, second only, both no], which need not be whole."""
    total = math.fsum(table)
    a, b, c, d = (one / total for one in table)
    chance = (a + b) * (a + c) + (c + d) * (b + d)
    return (a + d - chance) / (1 - chance)


def by_delta_method(table: list[int]) -> float:
    """Standard error from numerical derivatives and the covariance of a multinomial."""
    total, step = sum(table), 1e-6
    shares = [one / total for one in table]
    slopes = []
    for place in range(4):
        up, down = list(shares), list(shares)
        up[place] += step
        down[place] -= step
        slopes.append((unscaled(up) - unscaled(down)) / (2 * step))
    mean = math.fsum(s * p for s, p in zip(slopes, shares, strict=True))
    variance = math.fsum(p * s * s for s, p in zip(slopes, shares, strict=True)) - mean * mean
    return math.sqrt(variance / total)


def unscaled(shares: list[float]) -> float:
    """Kappa as a function of four shares, which are not made to sum to 1."""
    a, b, c, d = shares
    chance = (a + b) * (a + c) + (c + d) * (b + d)
    return (a + d - chance) / (1 - chance)


@pytest.mark.parametrize(
    ("table", "kappa"),
    [
        ([20, 5, 10, 15], 0.4),  # observed 0.7, by chance 0.5
        ([45, 15, 25, 15], (0.60 - 0.54) / (1 - 0.54)),
        ([25, 35, 5, 35], (0.60 - 0.46) / (1 - 0.46)),
    ],
)
def test_kappa_of_known_tables(table: list[int], kappa: float) -> None:
    found = cohen_kappa(*table)
    assert found is not None
    assert found.value == pytest.approx(kappa, abs=1e-12)
    assert found.value == pytest.approx(by_definition([float(one) for one in table]), abs=1e-12)


@pytest.mark.parametrize("table", [[20, 5, 10, 15], [45, 15, 25, 15], [3, 1, 0, 6], [100, 7, 2, 300], [1, 4, 5, 2]])
def test_the_interval_is_that_of_the_delta_method(table: list[int]) -> None:
    found = cohen_kappa(*table)
    assert found is not None
    half = 1.959963984540054 * by_delta_method(table)
    assert found.low == pytest.approx(max(found.value - half, -1.0), abs=1e-8)
    assert found.high == pytest.approx(min(found.value + half, 1.0), abs=1e-8)


def test_what_has_no_kappa() -> None:
    assert cohen_kappa(0, 0, 0, 0) is None
    assert cohen_kappa(9, 0, 0, 0) is None
    assert cohen_kappa(0, 0, 0, 9) is None
    perfect = cohen_kappa(5, 0, 0, 5)
    assert perfect is not None and (perfect.value, perfect.low, perfect.high) == (1.0, 1.0, 1.0)
    opposite = cohen_kappa(0, 5, 5, 0)
    assert opposite is not None and opposite.value == -1.0
    one_sided = cohen_kappa(6, 4, 0, 0)
    assert one_sided is not None and one_sided.value == 0.0
    with pytest.raises(ValueError, match="negative"):
        cohen_kappa(-1, 2, 3, 4)

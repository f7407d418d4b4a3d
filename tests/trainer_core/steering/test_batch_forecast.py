"""Forecasts of groups, against the formulas they estimate, in float64."""

import itertools
import math

import numpy as np
import pytest

from trainer_core.steering.batch_forecast import (
    Estimate,
    FilterRule,
    StoredSample,
    Verdicts,
    dead_chance,
    dead_share,
    drops,
    mean_of,
    refills,
)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("right", range(6))
def test_subsampling_counts_every_subset_once(right: int, size: int) -> None:
    samples = [1] * right + [0] * (5 - right)
    subsets = list(itertools.combinations(samples, size))
    dead = sum(len(set(subset)) == 1 for subset in subsets) / len(subsets)
    assert dead_chance(Verdicts(right, 5), size) == pytest.approx(dead, abs=1e-15)


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.93, 1.0])
@pytest.mark.parametrize(("graded", "size"), [(8, 8), (8, 4), (16, 3), (5, 2)])
def test_the_estimate_up_to_the_groups_size_is_unbiased(rate: float, graded: int, size: int) -> None:
    weights = [math.comb(graded, k) * rate**k * (1 - rate) ** (graded - k) for k in range(graded + 1)]
    expected = math.fsum(w * dead_chance(Verdicts(k, graded), size) for k, w in enumerate(weights))
    assert expected == pytest.approx(rate**size + (1 - rate) ** size, abs=1e-13)


@pytest.mark.parametrize(("right", "graded", "size"), [(0, 4, 8), (4, 4, 8), (1, 4, 16), (3, 8, 9), (2, 2, 64)])
def test_above_it_is_the_mean_under_the_posterior(right: int, graded: int, size: int) -> None:
    a, b = right + 0.5, graded - right + 0.5
    # Midpoints in θ, p = sin² θ: there Beta(1/2, 1/2) has no poles.
    theta = (np.arange(400_000, dtype=np.float64) + 0.5) * (math.pi / 2 / 400_000)
    p = np.sin(theta) ** 2
    density = np.sin(theta) ** (2 * a - 1) * np.cos(theta) ** (2 * b - 1)
    expected = float(np.sum(density * (p**size + (1 - p) ** size)) / np.sum(density))
    assert dead_chance(Verdicts(right, graded), size) == pytest.approx(expected, rel=1e-9)


def test_larger_groups_are_dead_less_often() -> None:
    groups = [Verdicts(0, 8), Verdicts(1, 8), Verdicts(4, 8), Verdicts(8, 8)]
    shares = [dead_share(groups, size).value for size in (2, 4, 8, 9, 16, 64)]
    assert shares == sorted(shares, reverse=True)
    assert shares[2] == 0.5, "at the size of the groups it is the share that was seen"


def test_a_group_without_a_grade_says_nothing() -> None:
    assert dead_share([Verdicts(0, 0), Verdicts(1, 2)], 2).value == 0.0
    with pytest.raises(ValueError, match="no group is stored"):
        dead_share([Verdicts(0, 0)], 2)
    with pytest.raises(ValueError, match="0 of 0 right cannot predict"):
        dead_chance(Verdicts(0, 0), 4)


def test_intervals() -> None:
    values = [0.2, 0.4, 0.9, 0.1]
    half = 1.959963984540054 * float(np.std(values, ddof=1)) / 2
    found = mean_of(values)
    assert (found.value, found.low, found.high) == pytest.approx((0.4, 0.4 - half, 0.4 + half), abs=1e-15)
    assert mean_of([0.5]) == Estimate(0.5, None, None)
    assert mean_of([0.0] * 30, share=True) == Estimate(0.0, 0.0, 0.1), "never seen among 30 is no zero"
    assert mean_of([1.0] * 30, share=True) == Estimate(1.0, 0.9, 1.0)
    assert mean_of([0.0, 1.0], share=True) == Estimate(0.5, 0.0, 1.0)


def sample(reward: float | None, length: int = 10, **more: bool) -> StoredSample:
    return StoredSample(reward, length, **more)


def test_filters_drop_samples_and_groups() -> None:
    groups = [
        [sample(1.0), sample(1.0)],
        [sample(1.0), sample(0.0, 30, truncated=True)],
        [sample(None), sample(0.0, 20)],
    ]
    none = drops(groups, FilterRule())
    assert (none.groups.value, none.samples.value) == (0.0, pytest.approx(1 / 6))
    dead = drops(groups, FilterRule(zero_advantage=1e-8))
    assert (dead.groups.value, dead.samples.value) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    cut = drops(groups, FilterRule(truncated=True))
    assert (cut.groups.value, cut.samples.value) == (0.0, pytest.approx(1 / 3))
    assert cut.tokens.value == pytest.approx((0 + 30 / 40 + 10 / 30) / 3)
    assert drops(groups, FilterRule(max_tokens=20)).samples.value == pytest.approx(1 / 3)
    assert drops([[sample(1.0, 5, loops=True)]], FilterRule(repetition=True)).groups.value == 1.0
    pruned = [sample(0.0, 5, out=True), sample(1.0, 15)]
    assert drops([pruned], FilterRule()).tokens.value == 0.25
    assert drops([pruned], FilterRule(zero_advantage=0.0)).groups.value == 0.0, "its reward still tells the two apart"
    with pytest.raises(ValueError, match="no group is stored"):
        drops([], FilterRule())


@pytest.mark.parametrize(("dead", "expected"), [(0.0, 0.0), (0.5, 16.0), (0.75, 48.0), (0.9, 48.0), (1.0, 48.0)])
def test_refills_are_geometric_and_bounded(dead: float, expected: float) -> None:
    assert refills(dead, 16, 3) == pytest.approx(expected)

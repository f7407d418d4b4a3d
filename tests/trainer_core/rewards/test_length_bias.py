"""The partial correlation of grade and length against direct regressions in float64, and what the reactions remove."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainer_core.rewards.length_bias import BINS, fit, partial_correlation, residuals


def sample(seed: int, count: int = 400, slope: float = 0.002) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Grades that pay ``slope`` per token beside what the rules say, lengths that go with the rules, and the rules."""
    rng = np.random.default_rng(seed)
    rules = rng.integers(0, 2, count).astype(np.float64)
    lengths = np.rint(rng.gamma(4.0, 60.0, count) + 80.0 * rules)
    grades = 0.3 + 0.4 * rules + slope * lengths + rng.normal(0.0, 0.1, count)
    return grades, lengths, rules


def regression_residuals(values: np.ndarray, control: np.ndarray) -> np.ndarray:
    """By the normal equations, solved directly."""
    design = np.stack([np.ones_like(control), control], axis=1)
    return values - design @ np.linalg.lstsq(design, values, rcond=None)[0]


@pytest.mark.parametrize("seed", range(5))
def test_the_correlation_is_that_of_the_residuals(seed: int) -> None:
    grades, lengths, rules = sample(seed)
    a, b = regression_residuals(grades, rules), regression_residuals(lengths, rules)
    wanted = np.corrcoef(a, b)[0, 1]
    assert partial_correlation(grades, lengths, rules) == pytest.approx(wanted, abs=1e-12)
    matrix = np.corrcoef([grades, lengths, rules])
    r_jl, r_jr, r_lr = matrix[0, 1], matrix[0, 2], matrix[1, 2]
    closed = (r_jl - r_jr * r_lr) / np.sqrt((1 - r_jr**2) * (1 - r_lr**2))
    assert wanted == pytest.approx(closed, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_slope_is_that_of_length_in_the_whole_regression(seed: int) -> None:
    grades, lengths, rules = sample(seed)
    design = np.stack([np.ones_like(rules), rules, lengths], axis=1)
    wanted = np.linalg.lstsq(design, grades, rcond=None)[0][2]
    found = fit(grades, lengths, rules)
    assert found is not None
    assert found.slope == pytest.approx(wanted, rel=1e-9)
    assert found.mean_length == pytest.approx(lengths.mean())


def test_rules_that_explain_everything_leave_no_bias() -> None:
    """Right answers are longer and graded higher: plain correlation sees a bias, the partial one does not."""
    rng = np.random.default_rng(0)
    rules = rng.integers(0, 2, 5000).astype(np.float64)
    lengths = 100.0 + 200.0 * rules + rng.normal(0.0, 10.0, 5000)
    grades = rules + rng.normal(0.0, 0.1, 5000)
    assert np.corrcoef(grades, lengths)[0, 1] > 0.9
    found = partial_correlation(grades, lengths, rules)
    assert found is not None and abs(found) < 0.05


def test_the_line_that_is_taken_off_leaves_nothing() -> None:
    grades, lengths, rules = sample(3)
    found = fit(grades, lengths, rules)
    assert found is not None and found.correlation > 0.9
    straight = grades - np.array([found.on_the_line(length) for length in lengths])
    assert partial_correlation(straight, lengths, rules) == pytest.approx(0.0, abs=1e-9)
    assert straight.mean() == pytest.approx(grades.mean()), "the level of the grades stays"


def test_bins_meet_a_bias_that_is_no_line() -> None:
    """A judge that likes middling lengths: the line sees nothing of it, the bins take it away."""
    rng = np.random.default_rng(1)
    lengths = rng.integers(10, 500, 4000).astype(np.float64)
    rules = rng.integers(0, 2, 4000).astype(np.float64)
    grades = 1.0 - ((lengths - 255.0) / 245.0) ** 2
    found = fit(grades, lengths, rules)
    assert found is not None and abs(found.correlation) < 0.1
    level = grades - np.array([found.in_its_bin(length) for length in lengths])
    left = residuals(grades, rules) - np.array([found.in_its_bin(length) for length in lengths])
    bins = np.searchsorted(found.edges, lengths, side="right")
    assert len(found.offsets) == BINS and set(bins) == set(range(BINS))
    for number in range(BINS):
        assert left[bins == number].mean() == pytest.approx(0.0, abs=1e-12)
    assert level.std() < 0.5 * grades.std()


@pytest.mark.parametrize(
    ("grades", "lengths", "rules"),
    [
        ([0.5] * 6, [1, 2, 3, 4, 5, 6], [0, 1, 0, 1, 0, 1]),
        ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [9] * 6, [0, 1, 0, 1, 0, 1]),
        ([0.0, 1.0, 0.0, 1.0, 0.0, 1.0], [1, 2, 3, 4, 5, 6], [0, 1, 0, 1, 0, 1]),
        ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [3, 7, 3, 7, 3, 7], [0, 1, 0, 1, 0, 1]),
    ],
    ids=["one grade", "one length", "the rules are the grade", "the rules are the length"],
)
def test_what_does_not_vary_at_fixed_rules_says_nothing(
    grades: list[float], lengths: list[float], rules: list[float]
) -> None:
    assert partial_correlation(grades, lengths, rules) is None
    assert fit(grades, lengths, rules) is None


def test_rules_that_do_not_vary_leave_the_plain_correlation() -> None:
    grades, lengths, _ = sample(4)
    found = partial_correlation(grades, lengths, np.ones_like(grades))
    assert found == pytest.approx(np.corrcoef(grades, lengths)[0, 1], abs=1e-12)


def test_few_lengths_make_few_bins() -> None:
    lengths = [10.0] * 60 + [20.0] * 30
    grades = [0.0, 1.0] * 30 + [1.0] * 30
    found = fit(grades, lengths, [0.0] * 90)
    assert found is not None
    assert found.edges == (20.0,) and found.offsets == pytest.approx((0.5 - 2 / 3, 1.0 - 2 / 3))
    assert [found.in_its_bin(length) for length in (1.0, 19.0, 20.0, 99.0)] == [found.offsets[i] for i in (0, 0, 1, 1)]


@given(
    st.lists(
        st.tuples(st.floats(-5, 5, width=32), st.integers(0, 100_000), st.floats(-5, 5, width=32)),
        min_size=1,
        max_size=60,
    )
)
def test_never_out_of_bounds(rows: list[tuple[float, int, float]]) -> None:
    grades, lengths, rules = zip(*rows, strict=True)
    found = partial_correlation(grades, lengths, rules)
    assert found is None or -1.0 <= found <= 1.0

"""Goldilocks filtering and difficulty-targeted selection."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from tests.trainer_core.specs import spec, weighted
from trainer_core.spec.data.curriculum import DifficultyTargetCurriculum
from trainer_core.steering.curriculum import Curriculum
from trainer_core.steering.curriculum.rates import PassRates
from trainer_core.steering.curriculum.target import DifficultyTarget

GOLDILOCKS = {"type": "goldilocks", "min_pass_rate": 0.25, "max_pass_rate": 0.75}
TARGET = {"type": "difficulty_target", "temperature": 0.1, "decay": 0.0, "explore": 0.0}


def one_source(rows: list[dict[str, Any]], curriculum: dict[str, Any], seed: int = 0) -> Curriculum:
    return Curriculum(spec(data=weighted(sums=1.0), curriculum=curriculum), {"sums": rows}, seed)


def rated(*rates: Any, column: str = "pass_rate") -> list[dict[str, Any]]:
    return [{"prompt": str(row), column: rate} for row, rate in enumerate(rates)]


def drawn(curriculum: Curriculum, count: int) -> list[int]:
    return [draw.row_index for draw in curriculum.draw(count)]


def test_only_rows_inside_the_band_come_each_once_per_epoch() -> None:
    curriculum = one_source(rated(0.0, 0.25, 0.5, 0.75, 1, 0.74), GOLDILOCKS)
    for _ in range(5):
        assert sorted(drawn(curriculum, 4)) == [1, 2, 3, 5]


def test_both_stages_must_agree() -> None:
    rows = [{"prompt": "", "weak": weak, "strong": strong} for weak, strong in ((0.5, 0.5), (0.5, 1.0), (0.0, 0.5))]
    curriculum = one_source(rows, {**GOLDILOCKS, "columns": ["weak", "strong"]})
    assert set(drawn(curriculum, 20)) == {0}


def test_the_band_may_move_and_an_empty_one_is_refused() -> None:
    curriculum = one_source(rated(0.0, 0.5, 1.0), GOLDILOCKS)
    before = curriculum.state()
    empty = spec(data=weighted(sums=1.0), curriculum={**GOLDILOCKS, "min_pass_rate": 0.6, "max_pass_rate": 0.9})
    with pytest.raises(ValueError, match=r"no row of the source 'sums' has pass rates between 0\.6 and 0\.9"):
        curriculum.update_spec(empty)
    assert curriculum.state() == before and drawn(curriculum, 2) == [1, 1]
    curriculum.update_spec(spec(data=weighted(sums=1.0), curriculum={**GOLDILOCKS, "max_pass_rate": 1.0}))
    assert set(drawn(curriculum, 6)) == {1, 2}


@pytest.mark.parametrize("rate", [None, "0.5", True, 1.5, -0.1, math.nan])
def test_a_row_without_a_pass_rate_is_an_error(rate: Any) -> None:
    with pytest.raises(ValueError, match="row 1 of the source 'sums' has no pass rate in 'pass_rate'"):
        one_source(rated(0.5, rate), GOLDILOCKS)
    with pytest.raises(ValueError, match="row 0 of the source 'sums' has no pass rate in 'other'"):
        one_source(rated(0.5), {**GOLDILOCKS, "columns": ["other"]})


def test_probabilities_are_the_softmax_of_the_distance() -> None:
    rates: PassRates[int] = PassRates(0.5)
    pools = DifficultyTarget(4, DifficultyTargetCurriculum(target_pass_rate=0.4, temperature=0.2, decay=0.5), rates)
    for row, rate in enumerate([0.0, 0.4, 1.0]):
        rates.observe(row, rate)
    rates.observe(0, 0.4)  # 0.5 · 0 + 0.5 · 0.4 = 0.2
    powers = np.exp([-0.2 / 0.2, 0.0, -0.6 / 0.2, 0.0])
    assert pools.probabilities() == pytest.approx(powers / powers.sum(), rel=1e-12)


def test_the_beta_kernel_is_paced() -> None:
    """w(p) = p^α (1 − p)^β to the power 1/τ; an untried row counts as the likeliest, and 0 is no zero."""
    rates: PassRates[int] = PassRates(0.0)
    shaped = DifficultyTargetCurriculum(shape="beta", alpha=1.0, beta=2.0, temperature=0.5)
    pools = DifficultyTarget(5, shaped, rates)
    for row, rate in enumerate([0.25, 0.5, 0.0, 1.0]):
        rates.observe(row, rate)
    kept = np.array([0.25, 0.5, 0.01, 0.99, 1 / 3])
    weights = (kept * (1 - kept) ** 2) ** 2
    assert pools.probabilities() == pytest.approx(weights / weights.sum(), rel=1e-12)
    assert shaped.likeliest == pytest.approx(1 / 3)


def test_draws_follow_the_probabilities() -> None:
    curriculum = one_source(rated(0, 0, 0), TARGET)
    for row, rate in enumerate([0.5, 0.4, 0.2]):
        curriculum.observe(f"sums:{row}", rate)
    counts = Counter(drawn(curriculum, 1)[0] for _ in range(6000))
    powers = np.exp([0.0, -1.0, -3.0])
    for row, expected in enumerate(6000 * powers / powers.sum()):
        assert abs(counts[row] - expected) < 5 * math.sqrt(expected)


def test_a_batch_holds_no_row_twice_until_all_have_come() -> None:
    curriculum = one_source(rated(*[0.0] * 8), {**TARGET, "temperature": 0.001, "explore": 0.3})
    for row in range(8):
        curriculum.observe(f"sums:{row}", row / 7)
    for _ in range(50):
        assert len(set(drawn(curriculum, 8))) == 8
    assert max(Counter(drawn(curriculum, 20)).values()) == 3


def test_without_replacement_the_second_draw_is_the_softmax_of_the_rest() -> None:
    curriculum = one_source(rated(0, 0, 0), TARGET)
    for row, rate in enumerate([0.5, 0.4, 0.3]):
        curriculum.observe(f"sums:{row}", rate)
    left_out = Counter(next(iter({0, 1, 2} - set(drawn(curriculum, 2)))) for _ in range(6000))
    p = np.exp([0.0, -1.0, -2.0])
    p /= p.sum()
    for row in range(3):
        first, second = [other for other in range(3) if other != row]
        chance = p[first] * p[second] / (1 - p[first]) + p[second] * p[first] / (1 - p[second])
        assert abs(left_out[row] - 6000 * chance) < 5 * math.sqrt(6000 * chance)


def test_no_row_starves() -> None:
    curriculum = one_source(rated(*[0.0] * 40), {**TARGET, "temperature": 0.001, "explore": 0.2})
    for row in range(40):
        curriculum.observe(f"sums:{row}", 0.0 if row else 0.5)
    counts = Counter(row for _ in range(500) for row in drawn(curriculum, 4))
    assert set(counts) == set(range(40)), "rows that were never solved come back"
    # Of 2000 draws, about 400 take any of the 40 rows.
    assert all(counts[row] >= 3 for row in range(40))


def test_rows_that_were_never_tried_come_first() -> None:
    curriculum = one_source(rated(*[0.0] * 20), {**TARGET, "temperature": 0.01})
    for row in range(10):
        curriculum.observe(f"sums:{row}", 1.0)
    assert set(drawn(curriculum, 10)) == set(range(10, 20))


def test_a_moved_target_holds_from_the_next_draw() -> None:
    curriculum = one_source(rated(0, 0, 0), {**TARGET, "temperature": 0.001})
    for row, rate in enumerate([0.0, 0.5, 1.0]):
        curriculum.observe(f"sums:{row}", rate)
    assert drawn(curriculum, 1) == [1]
    chosen = spec(data=weighted(sums=1.0), curriculum={**TARGET, "temperature": 0.001, "target_pass_rate": 1.0})
    curriculum.update_spec(chosen)
    assert drawn(curriculum, 1) == [2]

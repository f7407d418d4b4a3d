"""Rates and lengths: interpolation by hand, and what is refused."""

import math

import pytest
from pydantic import ValidationError

from tests.trainer_core.planning.rates_for_planning import rates
from trainer_core.planning.lengths import EmpiricalLengths, LognormalLengths, longest, strata


def test_a_decode_step_between_two_lines_is_linear_in_time() -> None:
    table = [{"running": 10, "tokens_per_s": 100}, {"running": 30, "tokens_per_s": 150}]
    engine = rates(engine={"decode": table}).engine
    assert engine.step_seconds(10) == pytest.approx(0.1)
    assert engine.step_seconds(30) == pytest.approx(0.2)
    assert engine.step_seconds(20) == pytest.approx(0.15)
    assert engine.step_seconds(1) == pytest.approx(0.1), "a step never gets shorter than at the first line"
    assert engine.step_seconds(60) == pytest.approx(0.4), "throughput never exceeds that of the last line"


def test_lognormal_quantiles_by_hand() -> None:
    law = LognormalLengths(median=100, sigma=0.5)
    assert law.quantile(0.5) == pytest.approx(100)
    assert law.quantile(0.8413447460685429) == pytest.approx(100 * math.exp(0.5))


def test_seen_lengths_come_back() -> None:
    law = EmpiricalLengths(tokens=(1, 3, 9))
    assert [law.quantile((index + 0.5) / 3) for index in range(3)] == pytest.approx([1, 3, 9])
    assert law.quantile(1 / 3) == pytest.approx(2)
    assert (law.quantile(1e-9), law.quantile(1 - 1e-9)) == (1, 9)


def test_strata_stand_for_equal_shares_and_end_with_the_longest() -> None:
    law = LognormalLengths(median=100, sigma=1.0)
    found = strata(law, 4, 10_000)
    assert found[:3] == pytest.approx([law.quantile(share) for share in (0.125, 0.375, 0.625)])
    assert found[3] == pytest.approx(law.quantile(1 - math.exp(-0.5772156649015329) / 4))
    assert strata(law, 4, 120) == pytest.approx([min(value, 120) for value in found])
    assert longest(law, 1000, 10_000) > longest(law, 10, 10_000)


def test_the_mean_of_strata_is_that_of_the_law() -> None:
    law = LognormalLengths(median=100, sigma=0.8)
    found = strata(law, 4000, 10**6)
    assert sum(found) / 4000 == pytest.approx(100 * math.exp(0.32), rel=0.01)


@pytest.mark.parametrize(
    "changes",
    [
        {"engine": {"decode": [{"running": 8, "tokens_per_s": 80}, {"running": 8, "tokens_per_s": 90}]}},
        {"engine": {"decode": []}},
        {"learner": {"tokens_per_s": 0}},
        {"learner": {"doubling_efficiency": 1.5}},
        {"lengths": {"type": "empirical", "tokens": [3, 2]}},
        {"lengths": {"type": "lognormal", "median": 0.5}},
        {"overlap_slowdown": 0.5},
        {"source": ""},
        {"speed": 1},
    ],
)
def test_rates_that_make_no_sense_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        rates(**changes)

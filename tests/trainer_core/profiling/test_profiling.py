"""Difficulty of rows: formulas in float64 against integration, sampling against uniform sampling, and wrong golds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.about import LEARNING
from tests.trainer_core.profiling.synthetic import SyntheticPolicy, profile, rates_of
from trainer_core.profiling import (
    BetaPrior,
    PassBand,
    RowTally,
    SamplingPlan,
    WrongAnswer,
    count_states,
    dead_share,
    fit_prior,
    next_round,
    suspicions,
    wilson_interval,
)
from trainer_core.profiling.allocation import is_settled, look_ahead
from trainer_core.profiling.beta import beta_cdf

BAND = PassBand(0.2, 0.8)


def density(a: float, b: float) -> tuple[np.ndarray, np.ndarray]:
    """(Pass rates, their weights under Beta(a, b)) by the midpoint rule, for a, b ≥ 1."""
    p = (np.arange(200_000) + 0.5) / 200_000
    weights = np.exp((a - 1) * np.log(p) + (b - 1) * np.log1p(-p))
    return p, weights / weights.sum()


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (2.5, 7.0), (40.0, 1.5), (13.0, 13.0)])
def test_formulas_agree_with_integration(a: float, b: float) -> None:
    p, weights = density(a, b)
    for x in (0.0, 0.05, 0.3, 0.5, 0.95, 1.0):
        assert beta_cdf(x, a, b) == pytest.approx(float(weights[p <= x].sum()), abs=2e-5)
    for size in (1, 4, 16):
        dead = float((weights * (p**size + (1 - p) ** size)).sum())
        assert dead_share({(0, 0): 3}, BetaPrior(a, b), size) == pytest.approx(dead, abs=1e-7)


def test_counts_move_the_dead_share() -> None:
    # Beta(3, 3): E[p^2 + q^2] = 2 · 3·4 / (6·7)
    assert dead_share({(4, 2): 1}, BetaPrior(), 2) == pytest.approx(4 / 7, abs=1e-12)
    assert dead_share({(4, 2): 1, (4, 0): 1}, BetaPrior(), 2) == pytest.approx((4 / 7 + 16 / 21) / 2, abs=1e-12)
    with pytest.raises(ValueError, match="no row was sampled"):
        dead_share({}, BetaPrior(), 8)


def test_intervals_hold_the_rate() -> None:
    assert wilson_interval(10, 5) == pytest.approx((0.23659, 0.76341), abs=1e-5)
    assert wilson_interval(4, 0)[0] == 0.0
    assert wilson_interval(4, 4)[1] == 1.0
    with pytest.raises(ValueError, match="needs a sample"):
        wilson_interval(0, 0)


@pytest.mark.parametrize(("low", "high"), [(0.5, 0.5), (-0.1, 0.5), (0.2, 1.1), (math.nan, 0.5)])
def test_a_band_that_is_none_is_refused(low: float, high: float) -> None:
    with pytest.raises(ValueError, match="band"):
        PassBand(low, high)


def test_classes_follow_the_counts() -> None:
    assert [BAND.classify(16, right, BetaPrior())[0] for right in (0, 8, 16)] == ["hard", "band", "easy"]
    assert sum(BAND.chances(7, 3, BetaPrior(0.4, 0.7))) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("shape", ["ends", "middle", "hard"])
def test_the_prior_is_found_again(shape: str) -> None:
    policy = SyntheticPolicy(rates_of(shape, 800, 3), 4)
    for row in range(800):
        policy.sample(row, 6)
    mean = sum(policy.rates) / 800
    assert fit_prior(count_states(policy.tallies())).mean == pytest.approx(mean, abs=0.06)


def test_few_rows_fit_nothing() -> None:
    assert fit_prior({(4, 4): 19}) == BetaPrior()


def test_the_look_ahead_is_the_expectation() -> None:
    prior, most = BetaPrior(0.7, 1.3), 9
    table = look_ahead(BAND, prior, most)
    n, c, ahead = 3, 1, int(table.samples[3, 1])
    expected, a, b = 0.0, prior.a + c, prior.b + n - c
    for more in range(ahead + 1):
        ways = math.lgamma(a + more) + math.lgamma(b + ahead - more) - math.lgamma(a + b + ahead)
        ways -= math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
        expected += math.comb(ahead, more) * math.exp(ways) * BAND.classify(n + ahead, c + more, prior)[1]
    assert table.index[n, c] == pytest.approx((table.error[n, c] - expected) / ahead, abs=1e-12)
    assert table.index[n, c] > 0
    assert np.all(table.index[most] == 0), "rows that have all their samples get no more"


def test_rounds_keep_to_the_plan() -> None:
    plan = SamplingPlan(BAND, first=4, most=6, budget=100, votes=8)
    assert next_round([RowTally()] * 3, plan, BetaPrior()) == {0: 4, 1: 4, 2: 4}
    assert next_round([RowTally()] * 30, plan, BetaPrior()) == dict.fromkeys(range(25), 4)
    plan = SamplingPlan(BAND, first=4, most=5, budget=100, votes=8)
    settled, open_, failing = RowTally(5, 5, 5), RowTally(4, 4, 0), RowTally(5, 0, 0)
    found = next_round([settled, open_, failing], plan, BetaPrior(), least=50)
    assert found == {1: 1}, "no row gets more than the most; samples that could not be graded count as well"
    assert next_round([RowTally(5, 5, 1)] * 3, plan, BetaPrior(), least=50) == {}
    assert next_round([open_] * 3, SamplingPlan(BAND, budget=12), BetaPrior()) == {}
    assert next_round([open_] * 3, SamplingPlan(BAND, budget=100, target_error=0.9), BetaPrior()) == {}


def test_agreeing_wrong_answers_are_asked_for_votes() -> None:
    agreed = RowTally(4, 4, 0, (WrongAnswer("7", 4),))
    scattered = RowTally(4, 4, 0, (WrongAnswer("7", 1), WrongAnswer("8", 1), WrongAnswer("9", 1)))
    plan = SamplingPlan(BAND, budget=100, target_error=0.99)
    assert next_round([agreed, scattered], plan, BetaPrior()) == {0: 4}
    voted = RowTally(8, 8, 0, (WrongAnswer("7", 8),))
    assert next_round([voted, scattered], plan, BetaPrior()) == {}


def wrong_classes(policy: SyntheticPolicy, prior: BetaPrior) -> float:
    """Share of rows in a wrong class."""
    wrong = 0
    for tally, rate in zip(policy.tallies(), policy.rates, strict=True):
        true = "hard" if rate < BAND.low else "easy" if rate > BAND.high else "band"
        wrong += BAND.classify(tally.samples, tally.correct, prior)[0] != true
    return wrong / len(policy.rates)


@pytest.mark.expensive(8, "computes many cases", about=LEARNING)
@pytest.mark.parametrize("shape", ["ends", "even", "hard"])
def test_fewer_samples_than_uniform_at_equal_error(shape: str) -> None:
    rates = rates_of(shape, 1500, 1)
    uniform = SyntheticPolicy(rates, 2)
    for row in range(len(rates)):
        uniform.sample(row, 16)
    error = wrong_classes(uniform, fit_prior(count_states(uniform.tallies())))
    spare = SyntheticPolicy(rates, 2)
    prior = profile(spare, SamplingPlan(BAND, budget=11 * len(rates), votes=0))
    assert spare.spent <= 11 * len(rates), "11/16 of the samples"
    assert wrong_classes(spare, prior) <= error


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_planted_wrong_golds_are_found_by_a_strong_policy(seed: int) -> None:
    policy = SyntheticPolicy(rates_of("easy", 1000, seed), seed, wrong=0.05)
    prior = profile(policy, SamplingPlan(BAND, budget=12_000))
    listed = {one.row for one in suspicions(policy.tallies(), prior) if one.is_suspect}
    assert len(listed & policy.planted) >= 0.8 * len(policy.planted)
    assert len(listed - policy.planted) <= 0.1 * len(listed)


@pytest.mark.expensive(5, "computes many cases", about=LEARNING)
def test_a_weak_policy_accuses_nobody() -> None:
    policy = SyntheticPolicy(rates_of("hard", 1000, 5), 5, wrong=0.05)
    prior = profile(policy, SamplingPlan(BAND, budget=12_000))
    listed = {one.row for one in suspicions(policy.tallies(), prior) if one.is_suspect}
    assert len(listed - policy.planted) <= 2


def test_few_votes_accuse_nobody() -> None:
    right = [RowTally(8, 8, 8)] * 200
    found = suspicions([*right, RowTally(2, 2, 0, (WrongAnswer("7", 2),))], BetaPrior(9.0, 1.0))
    assert [(one.row, one.votes, one.agreement, one.is_suspect) for one in found] == [(200, 2, 1.0, False)]


def test_rows_in_doubt_that_have_got_the_most_are_not_settled() -> None:
    plan = SamplingPlan(PassBand(0.2, 0.8), first=4, most=4, budget=100, target_error=0.02)
    prior = BetaPrior(1.0, 1.0)
    doubtful, clear = RowTally(4, 4, 1), RowTally(64, 64, 64)
    assert next_round([doubtful], plan, prior) == {}
    assert not is_settled([doubtful], plan, prior)
    assert is_settled([clear], SamplingPlan(plan.band, first=4, most=64, budget=100, target_error=0.02), prior)

"""Steps among failures against closed forms."""

import math

import pytest

from trainer_core.planning.cluster.failures import CheckpointPlan, Fleet, passage
from trainer_core.planning.cluster.hardware import Reliability


def fleet(hours: float, *, engines: int = 1, engine_gpus: int = 0, learner_gpus: int = 8) -> Fleet:
    return Fleet(engines, engine_gpus, learner_gpus, Reliability(hours, 300.0, 120.0))


def test_without_failures_time_is_that_of_steps_and_checkpoints() -> None:
    passed = passage(25, lambda engines: 4.0, fleet(math.inf), CheckpointPlan(10, 6.0))
    assert (passed.worked, passed.saved) == (100.0, 18.0)  # after 10, 20 and the last
    assert (passed.redone, passed.restarted, passed.learner_failures, passed.engine_failures) == (0.0, 0.0, 0, 0)


def test_learner_failures_cost_what_the_closed_form_says() -> None:
    # A piece of w seconds among failures at rate r, each with a restart of R, takes (e^(r·w) − 1)·(1/r + R) in the mean
    # (Daly 2006, doi:10.1016/j.future.2004.11.016, with failures that do not come while restarting).
    rate, piece = 8 / (2.0 * 3600), 10 * 30.0 + 20.0
    expected = (math.exp(rate * piece) - 1) * (1 / rate + 300.0)
    found = passage(40_000, lambda engines: 30.0, fleet(2.0), CheckpointPlan(10, 20.0), seed=1)
    assert found.seconds / 4000 == pytest.approx(expected, rel=0.03)
    assert found.learner_failures > 1000
    assert found.restarted == pytest.approx(300.0 * found.learner_failures)
    assert found.worked == pytest.approx(40_000 * 30.0)


def test_engines_that_are_away_slow_the_steps() -> None:
    # An engine of one GPU is away for 120 s after 3,600 s in the mean: 120/3,720 of four. What it had begun is
    # generated again: half of its quarter of a step, 1/3,600 times a second for each engine that works.
    away = 120 / 3720
    passed = passage(
        50_000,
        lambda engines: 40.0 / engines,
        fleet(1.0, engines=4, engine_gpus=1, learner_gpus=0),
        CheckpointPlan(10**6, 0.0),
    )
    speed = 4 * (1 - away) / 40.0
    again = 0.5 / 4 * 4 * (1 - away) / 3600
    assert passed.worked / 50_000 == pytest.approx((1 / speed) / (1 - again / speed), rel=0.02)
    assert passed.learner_failures == 0 and passed.engine_failures > 500


def test_nothing_goes_on_while_no_engine_is_there() -> None:
    alone = passage(
        2000, lambda engines: 10.0, fleet(1.0, engine_gpus=1, learner_gpus=0), CheckpointPlan(100, 0.0), begun_share=0.0
    )
    assert alone.worked == pytest.approx(20_000.0)
    assert alone.engine_failures > 0
    assert alone.restarted == pytest.approx(120.0 * alone.engine_failures)

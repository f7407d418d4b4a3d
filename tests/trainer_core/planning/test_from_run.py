"""Rates from a run's metrics: what was put in comes out."""

import math
from typing import Any

import pytest

from tests.trainer_core.planning.test_plan import small
from trainer_core.planning import PlanError, plan
from trainer_core.planning.from_run import NEEDED, rates_from_steps

STEP, LOAD = 0.01, 0.002
"""Made up: a decode step of r sequences lasts STEP + LOAD · r seconds."""


def steps(count: int = 20, **values: float) -> list[dict[str, float]]:
    """Eight samples a step, of a length that varies; a learner of 500 tokens/s behind 0.5 s."""
    found = []
    for number in range(count):
        length = 90.0 + number
        running = 4.0 + 0.1 * number
        busy = 8 * length / running * (STEP + LOAD * running)
        learn = 0.5 + 8 * (10 + length) / 500
        phases = {
            "timing_s/generate": busy,
            "timing_s/reward": 0.25,
            "timing_s/learn": learn,
            "timing_s/sync": 0.125,
        }
        whole = sum(phases.values()) + 0.0625
        found.append(
            {
                **phases,
                "timing_s/step": whole,
                "perf/engine_busy_share": busy / whole,
                "perf/running_sequences": running,
                "prompt_length/mean": 10.0,
                "response_length/mean": length,
                "response_length/p50": 80.0,
                "groups/zero_advantage_share": 0.0,
                **values,
            }
        )
    return found


def test_what_was_put_in_comes_out() -> None:
    found = rates_from_steps(small(), steps(), "a test")
    assert found.source == "a test"
    one = found.engine.step_seconds(1.0)
    for running in (3.0, 5.0):
        assert found.engine.step_seconds(running) / one == pytest.approx((STEP + LOAD * running) / (STEP + LOAD))
    assert found.engine.prefill_seconds(1000) == 0.0
    assert found.learner.tokens_per_s == pytest.approx(500.0)
    assert found.learner.seconds_per_update == pytest.approx(0.5)
    assert found.sync.load_seconds == 0.125
    assert found.reward_seconds == 0.25
    assert found.loop_seconds == pytest.approx(0.0625)
    assert found.prompt_tokens == 10.0
    assert found.lengths.quantile(0.5) == pytest.approx(80.0)


def test_passes_are_told_from_the_speed_of_one() -> None:
    several = small()
    several = several.model_copy(update={"schedule": several.schedule.model_copy(update={"epochs": 2})})
    found = rates_from_steps(several, steps(), "a test")
    assert found.learner.tokens_per_s == pytest.approx(1000.0), "each token was learned from twice in that time"
    assert found.learner.seconds_per_update == pytest.approx(0.25)


def test_the_length_law_has_the_mean_of_the_run() -> None:
    found = rates_from_steps(small(), steps(**{"response_length/mean": 80 * math.exp(0.08 / 2)}), "a test")
    assert found.lengths.type == "lognormal"
    assert found.lengths.sigma**2 == pytest.approx(0.08, rel=0.1)


@pytest.mark.parametrize("varies", [True, False])
def test_a_run_predicts_itself(varies: bool) -> None:
    # Where the load hardly varies from step to step nothing is said of smaller ones, but its own step comes out.
    seen = steps() if varies else [steps()[10]] * 12
    found = rates_from_steps(small(), seen, "a test")
    assert len(found.engine.decode) == (2 if varies else 1)
    line = plan(small(), 2, found).current
    usual = sorted(seen[3:], key=lambda step: step["timing_s/step"])[len(seen[3:]) // 2]
    assert line.generate_seconds == pytest.approx(usual["timing_s/generate"], rel=0.01)
    assert line.step_seconds == pytest.approx(usual["timing_s/step"], rel=0.02)


def test_a_pause_of_generation_is_told_from_publishing() -> None:
    found = rates_from_steps(small(), steps(**{"timing_s/paused": 0.025}), "a test")
    assert found.sync.load_seconds == pytest.approx(0.025)
    assert found.sync.publish_seconds == pytest.approx(0.1)


def test_groups_without_signal_are_not_learned() -> None:
    quiet = {"groups/zero_advantage_share": 0.25}
    filtered = rates_from_steps(small(filters=[{"type": "zero_advantage"}]), steps(**quiet), "a test")
    assert filtered.learned_share == 0.75
    assert filtered.learner.tokens_per_s == pytest.approx(375.0)
    assert rates_from_steps(small(), steps(**quiet), "a test").learned_share == 1.0
    paid = {"coefficient": 0.1, "placement": "reward"}
    for parts in ({"kl": paid}, {"advantage": {"type": "reinforce_pp"}}):
        kept = small(filters=[{"type": "zero_advantage"}], **parts)
        assert rates_from_steps(kept, steps(**quiet), "a test").learned_share == 1.0


def test_several_ranks_share_the_tokens() -> None:
    found = rates_from_steps(small(parallelism={"learner_ranks": 2}), steps(), "a test")
    assert found.learner.tokens_per_s == pytest.approx(250.0)


@pytest.mark.parametrize("missing", NEEDED)
def test_too_few_complete_steps_are_refused(missing: str) -> None:
    broken: list[Any] = [{name: value for name, value in step.items() if name != missing} for step in steps(6)]
    with pytest.raises(PlanError, match=r"rates need 5 steps with reported times; there are 4\."):
        rates_from_steps(small(), [*broken, *steps(4)], "a test")

"""Forecast of a step under a spec, and the sentences that it is told with."""

from typing import Any

import pytest

from trainer_core.spec import RunSpec
from trainer_core.steering.batch_forecast import Estimate, FilterRule, StoredSample, Verdicts
from trainer_core.steering.forecast_assumptions import assumptions
from trainer_core.steering.step_forecast import filter_rule, step_forecast, unanswered

VERDICTS = [Verdicts(0, 4), Verdicts(2, 4), Verdicts(1, 4), Verdicts(0, 0)]
GROUPS = [
    [StoredSample(1.0, 10), StoredSample(0.0, 30, truncated=True)],
    [StoredSample(0.0, 20), StoredSample(0.0, 20, loops=True)],
]
SPEC: dict[str, Any] = {
    "policy": {"base": "small"},
    "data": {"sources": [{"name": "add", "dataset": "sums@1"}]},
    "reward": {"definition": "exact@1"},
    "schedule": {"prompts_per_step": 6},
}


def spec(*, rollout: dict[str, Any] | None = None, **parts: Any) -> RunSpec:
    return RunSpec.model_validate({**SPEC, "rollout": {"group_size": 4, **(rollout or {})}, **parts})


def test_a_step_is_foreseen() -> None:
    found = step_forecast(spec(), VERDICTS, GROUPS)
    assert (found.group_size, found.filters, found.refills) == (4, ("zero_advantage",), None)
    assert found.dead_share is not None and found.live_groups is not None
    assert found.dead_share.value == pytest.approx(1 / 3)
    assert found.live_groups.value == pytest.approx(4)
    assert found.live_groups.low == pytest.approx(6 * (1 - (found.dead_share.high or 0)))
    assert found.live_groups.high == pytest.approx(6 * (1 - (found.dead_share.low or 0)))
    assert found.samples == Estimate(24.0, 24.0, 24.0)
    assert found.tokens == Estimate(480.0, 480.0, 480.0), "both groups have a mean length of 20"
    assert found.dropped is not None and found.dropped.groups.value == 0.5
    # Pairs of 2 right among 4: 2 of 6 are alike; of 1 among 4: 3 of 6.
    two = step_forecast(spec(rollout={"group_size": 2}), VERDICTS, GROUPS)
    assert two.dead_share is not None and two.dead_share.value == pytest.approx((1 + 1 / 3 + 1 / 2) / 3)
    assert two.samples == Estimate(12.0, 12.0, 12.0)


def test_dynamic_sampling_draws_anew() -> None:
    dynamic = {"dynamic_sampling": {"enabled": True, "max_refills": 2}}
    found = step_forecast(spec(rollout=dynamic), VERDICTS, GROUPS)
    assert found.refills is not None and found.live_groups is not None and found.samples is not None
    assert found.refills.value == pytest.approx(3)  # 6 · (1/3) / (2/3)
    assert found.samples.value == pytest.approx(4 * 9)
    assert found.samples.high == pytest.approx(4 * (6 + 12)), "the interval reaches to where refills are used up"
    assert found.live_groups.value == 6.0
    dead = step_forecast(spec(rollout=dynamic), [Verdicts(0, 4)], GROUPS)
    assert (dead.refills, dead.live_groups) == (Estimate(12.0, None, None), Estimate(0.0, None, None))


def test_what_is_not_stored_is_not_foreseen() -> None:
    without = step_forecast(spec(), [Verdicts(0, 0)], [])
    assert (without.dead_share, without.live_groups, without.tokens, without.dropped) == (None, None, None, None)
    assert without.samples == Estimate(24.0, 24.0, 24.0)
    assert step_forecast(spec(rollout={"dynamic_sampling": {"enabled": True}}), [], GROUPS).samples is None


def test_the_rule_follows_the_spec() -> None:
    filters = [
        {"type": "truncated"}, {"type": "overlong", "max_tokens": 20}, {"type": "overlong", "max_tokens": 9},
        {"type": "repetition"}, {"type": "zero_advantage", "tolerance": 0.1}, {"type": "high_entropy"},
    ]  # fmt: skip
    several = spec(filters=filters)
    assert filter_rule(several) == FilterRule(0.1, True, 9, True)
    assert unanswered(several) == ["high_entropy"]


def test_the_rule_leaves_alone_what_is_compared_with_more_than_the_group() -> None:
    # Against the batch, equal rewards within a group carry a signal.
    assert filter_rule(spec(advantage={"type": "reinforce_pp"})).zero_advantage is None
    penalised = spec(kl={"coefficient": 0.1, "placement": "reward"})
    assert penalised.compares == "penalised"
    assert filter_rule(penalised) == FilterRule()
    said = assumptions(penalised, penalised, VERDICTS, GROUPS, whole=True)
    assert "zero_advantage excludes no group here: rewards are compared with more than their own group." in said


def told(now: RunSpec, draft: RunSpec, *, whole: bool = True, groups: Any = GROUPS, verdicts: Any = VERDICTS) -> str:
    return "\n".join(assumptions(now, draft, verdicts, groups, whole=whole))


def test_assumptions_are_those_that_apply() -> None:
    plain = told(spec(), spec(), groups=[[GROUPS[0][0]] * 4])
    assert plain == ("The policy answers as in these steps, and groups are independent; intervals hold with 95 %.")
    larger = told(spec(), spec(rollout={"group_size": 8}))
    assert "Where prompts had fewer graded samples than 8, the mean over the possible pass rates" in larger
    assert "all choices" not in larger
    mixed = told(spec(), spec(), verdicts=[*VERDICTS, Verdicts(1, 3)])
    assert "Where some prompts had fewer graded samples than 4, the mean over the possible pass rates" in mixed
    smaller = told(spec(), spec(rollout={"group_size": 3}))
    assert "Groups of 3 are all choices of 3 from a prompt's samples." in smaller
    assert "A step keeps its 6 prompts" in smaller
    assert "Filters are counted on groups of their original size." in smaller
    graded = [[StoredSample(value, 5) for value in (0.0, 0.5, 1.0)]]
    assert "more than two values" in told(spec(), spec(), groups=graded)
    assert "Only a sample of each step's groups is stored" in told(spec(), spec(), whole=False)
    assert "no group is stored" in told(spec(), spec(), groups=[])
    assert "the prompts' results are not stored" in told(spec(), spec(), verdicts=[])
    dynamic = spec(rollout={"dynamic_sampling": {"enabled": True}})
    assert "at most 3 times the batch in a step" in told(dynamic, dynamic)
    assert "Replaced groups are not stored" in told(dynamic, dynamic)
    entropic = spec(filters=[{"type": "high_entropy"}, {"type": "repetition"}])
    assert "Not counted, because they need data that is not stored: high_entropy." in told(spec(), entropic)
    assert "Loops are those that stopped the engine" in told(spec(), entropic)

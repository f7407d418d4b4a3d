"""Guards: when they act, how often, and across a resume."""

import json

import pytest

from trainer_core.spec.operation.guards import MetricBound
from trainer_core.steering.guards import GuardWatch

KL = "rollout_corr/kl"


def watch(**values: object) -> GuardWatch:
    return GuardWatch([MetricBound(metric=KL, **{"max": 0.1, **values})])


def acts(guard: GuardWatch, *values: float) -> list[bool]:
    return [bool(guard.check(step, {KL: value})) for step, value in enumerate(values, start=1)]


def test_acts_outside_and_not_on_the_bound() -> None:
    assert acts(watch(), 0.1, 0.05) == [False, False]
    (alert,) = watch(action="pause").check(7, {KL: 0.25})
    assert (alert.metric, alert.value, alert.action) == (KL, 0.25, "pause")
    assert alert.message == "rollout_corr/kl is 0.25, above 0.1, for 1 step (step 7)"
    (below,) = watch(min=0.0).check(1, {KL: -1.0})
    assert "below 0" in below.message and below.action == "alert"


def test_needs_its_steps_in_a_row() -> None:
    assert acts(watch(for_steps=3), 1, 1, 0, 1, 1, 1) == [False, False, False, False, False, True]


def test_acts_once_until_a_step_inside() -> None:
    assert acts(watch(for_steps=2), 1, 1, 1, 1, 0, 1, 1) == [False, True, False, False, False, False, True]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_is_outside(value: float) -> None:
    assert acts(watch(), value) == [True]
    assert acts(watch(max=None, min=0.0), float("-inf")) == [True]


def test_a_metric_that_is_not_reported_leaves_the_count() -> None:
    guard = watch(for_steps=2)
    assert [bool(guard.check(1, {KL: 1.0})), bool(guard.check(2, {})), bool(guard.check(3, {KL: 1.0}))] == [
        False,
        False,
        True,
    ]


def test_each_guard_counts_for_itself() -> None:
    guard = GuardWatch([MetricBound(metric=KL, max=0.1), MetricBound(metric="actor/entropy", min=0.5, for_steps=2)])
    assert [a.metric for a in guard.check(1, {KL: 1.0, "actor/entropy": 0.1})] == [KL]
    assert [a.metric for a in guard.check(2, {KL: 0.0, "actor/entropy": 0.1})] == ["actor/entropy"]


def test_resumes_in_the_middle_of_a_count() -> None:
    first, second = watch(for_steps=2), watch(for_steps=2)
    acts(first, 1.0)
    second.load(json.loads(json.dumps(first.state())))
    assert acts(second, 1.0) == [True]


def test_a_state_of_other_guards_starts_anew() -> None:
    for values in ({"max": 0.2}, {"for_steps": 3}, {"metric": "actor/entropy"}):
        guard = watch(for_steps=2)
        other = GuardWatch([MetricBound(**{"metric": KL, "max": 0.1, "for_steps": 2, **values})])
        other.check(1, {KL: 1.0, "actor/entropy": 1.0})
        guard.load(json.loads(json.dumps(other.state())))
        assert acts(guard, 1.0, 1.0) == [False, True]

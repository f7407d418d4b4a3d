"""Guards on change and on standstill."""

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.trainer_core.specs import spec
from trainer_core.spec.operation.guards import HeldOutFalls, MetricBound, MetricChange, MetricStuck
from trainer_core.steering.guards import GuardWatch
from trainer_core.steering.held_out import KEPT, compare

NAME = "actor/grad_norm"


def changes(**values: Any) -> GuardWatch:
    return GuardWatch([MetricChange(metric=NAME, **{"window": 3, **values})])


def stuck(**values: Any) -> GuardWatch:
    return GuardWatch([MetricStuck(metric=NAME, **{"for_steps": 3, **values})])


def acts(watch: GuardWatch, *values: float) -> list[bool]:
    return [bool(watch.check(step, {NAME: value})) for step, value in enumerate(values, start=1)]


def test_a_rise_above_the_recent_mean() -> None:
    # The mean of 1, 2, 3 is 2; 3 is exactly half of it above, 3.1 is more.
    assert acts(changes(max_rise=0.5), 1, 2, 3, 3.0) == [False] * 4
    assert acts(changes(max_rise=0.5), 1, 2, 3, 3.1) == [False, False, False, True]
    watch = changes(max_rise=0.5, action="pause")
    (alert,) = [alert for step, value in enumerate([1, 2, 3, 9], start=1) for alert in watch.check(step, {NAME: value})]
    assert alert.message == "actor/grad_norm is 9, more than 50% above its mean of 2, for 1 step (step 4)"
    assert alert.action == "pause"


def test_a_fall_below_the_recent_mean_whatever_its_sign() -> None:
    assert acts(changes(max_fall=0.5), 2, 2, 2, 0.9, 2) == [False, False, False, True, False]
    assert acts(changes(max_fall=0.5), -2, -2, -2, -2.9, -3.5) == [False, False, False, False, True]
    assert acts(changes(max_rise=0.1), 0, 0, 0, 0, 1e-9) == [False, False, False, False, True]


def test_it_waits_for_its_window() -> None:
    assert acts(changes(max_rise=0.1), 1, 100) == [False, False]


def test_change_in_a_row() -> None:
    assert acts(changes(max_rise=0.5, for_steps=2, window=4), 1, 1, 1, 1, 9, 1, 9, 9) == [False] * 7 + [True]


def test_a_spike_of_two_steps_does_not_hide_its_second_in_the_mean() -> None:
    # The mean with the first 15 in it would be 4.5, and 15 no more than 3.4 times of it.
    assert acts(changes(max_rise=9.0, for_steps=2, window=4), 1, 1, 1, 1, 15, 15) == [False] * 5 + [True]
    # Once it has acted, what lasts becomes the usual.
    assert acts(changes(max_rise=1.0, window=3), 1, 1, 1, 5, 5, 5, 5, 5, 1, 5) == [False] * 3 + [True] + [False] * 6


def test_an_outlier_that_was_waited_over_is_no_part_of_the_mean() -> None:
    assert acts(changes(max_rise=1.0, for_steps=2, window=3), 1, 1, 1, 99, 1, 3, 3) == [False] * 6 + [True]


def test_no_number_sets_it_off_and_spoils_no_mean() -> None:
    assert acts(changes(max_rise=0.5), 1, math.nan, 1, 1, 1.2, 2) == [False, True, False, False, False, True]
    assert acts(changes(max_rise=0.5), 1, 1, 1, math.inf, 1.2) == [False, False, False, True, False]
    assert acts(stuck(), math.nan) == [True]


def test_standing_still() -> None:
    assert acts(stuck(), 0, 0, 0, 0, 0.1, 0, 0, 0) == [False, False, True, False, False, False, False, True]
    assert acts(stuck(tolerance=0.2), 0.0, 0.1, 0.2, 0.5) == [False, False, True, False]
    (alert,) = stuck_alert(0.25, 0.25, 0.25)
    assert alert.message == "actor/grad_norm is 0.25, stuck, for 3 steps (step 3)"


def stuck_alert(*values: float) -> list[Any]:
    watch = stuck()
    return [alert for step, value in enumerate(values, start=1) for alert in watch.check(step, {NAME: value})]


def test_a_step_without_the_metric_leaves_all_as_it_is() -> None:
    watch = stuck()
    found = [
        bool(watch.check(step, metrics)) for step, metrics in enumerate([{NAME: 0.0}, {}, {NAME: 0.0}, {NAME: 0.0}])
    ]
    assert found == [False, False, False, True]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([0.0, 1.0, 1.4, 3.0, math.nan]), max_size=20), st.integers(0, 20))
def test_resumes_exactly(values: list[float], cut: int) -> None:
    guards = [
        MetricBound(metric=NAME, max=1.2, for_steps=2),
        MetricChange(metric=NAME, max_rise=0.3, max_fall=0.3, window=3, for_steps=2),
        MetricStuck(metric=NAME, for_steps=3),
    ]
    whole, resumed = GuardWatch(guards), GuardWatch(guards)
    acts(whole, *values[:cut])
    resumed.load(json.loads(json.dumps(whole.state())))
    assert acts(resumed, *values[cut:]) == acts(whole, *values[cut:])
    assert resumed.state() == whole.state()


def test_a_guard_that_does_not_name_its_kind_is_a_bound() -> None:
    chosen = spec(guards=[{"metric": NAME, "max": 1.0}, {"type": "metric_stuck", "metric": NAME}])
    assert chosen.guards == (MetricBound(metric=NAME, max=1.0), MetricStuck(metric=NAME))
    assert type(chosen).model_validate_json(chosen.model_dump_json()) == chosen


@pytest.mark.parametrize(
    ("guard", "message"),
    [
        ({"type": "metric_change"}, "a largest rise or a largest fall"),
        ({"type": "metric_change", "max_rise": 0.1, "window": 3, "for_steps": 4}, "must not be above the window"),
        ({"type": "metric_change", "max_rise": 0.0}, "greater than 0"),
        ({"type": "metric_stuck", "for_steps": 1}, "greater than or equal to 2"),
        ({"type": "metric_gone"}, "'metric_bound', 'metric_change', 'metric_stuck'"),
    ],
)
def test_a_guard_that_makes_no_sense_is_refused(guard: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        spec(guards=[{"metric": NAME, **guard}])


def test_a_guard_on_nothing_is_refused_whatever_its_kind() -> None:
    with pytest.raises(ValidationError, match="no metric is called 'nothing'") as refused:
        spec(guards=[{"type": "metric_stuck", "metric": "nothing"}])
    assert refused.value.errors()[0]["loc"] == ("guards", 0, "metric")


def test_a_run_that_is_never_evaluated_keeps_no_more_than_the_newest_rewards() -> None:
    guard, past = HeldOutFalls(), list[float]()
    for step in range(3 * KEPT):
        assert compare(guard, past, {"critic/score/mean": float(step)}) is None
    assert len(past) == 2 + KEPT and past[2:] == [float(step) for step in range(2 * KEPT, 3 * KEPT)]
    # The first evaluation finds the mean of these.
    assert compare(guard, past, {"eval/held_out/score/mean": 0.5}) == (0.5, None)
    assert past == [0.5, (2 * KEPT + 3 * KEPT - 1) / 2]


@pytest.mark.parametrize(("error", "objects"), [(None, True), (0.01, True), (0.07, False)])
def test_a_fall_within_the_noise_of_an_evaluation_is_none(error: float | None, objects: bool) -> None:
    """The best is partly luck: a fall is one beyond three standard errors of a difference, here 0.03 and 0.21."""
    guard, past = HeldOutFalls(max_fall=0.1), list[float]()
    noise = {} if error is None else {"eval/a/score/error": error, "eval/b/score/error": error}

    def evaluated(score: float, reward: float) -> str | None:
        scores = {"eval/a/score/mean": score, "eval/b/score/mean": score}
        seen = compare(guard, past, {"critic/score/mean": reward, **scores, **noise})
        assert seen is not None
        return seen[1]

    assert evaluated(0.6, 0.3) is None
    assert (evaluated(0.4, 0.5) is not None) is objects
    assert evaluated(0.58, 0.5) is None, "less than a tenth"

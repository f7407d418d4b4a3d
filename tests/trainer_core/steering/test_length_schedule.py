"""The window of lengths: stages and their triggers, cycles, steering, and resuming."""

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trainer_core.specs import spec
from trainer_core.spec import RunSpec, apply_control
from trainer_core.steering.length_schedule import LENGTH_P99, PERPLEXITY, LengthSchedule

STAGED = {"type": "staged", "stages": [40, 60, 100], "near": 0.9, "settle_steps": 2, "perplexity_tolerance": 0.1}


def windowed(**window: Any) -> RunSpec:
    return spec(length_window=window)


def told(p99: float, perplexity: float = 2.0) -> dict[str, float]:
    return {LENGTH_P99: p99, PERPLEXITY: perplexity}


def test_a_fixed_window_is_the_maximum_length() -> None:
    schedule = LengthSchedule(spec())
    assert schedule.observe(1, told(128.0)) is False
    assert schedule.max_tokens(1) == schedule.max_tokens(999) == 128


def test_a_stage_ends_when_lengths_are_near_and_perplexity_has_settled() -> None:
    schedule = LengthSchedule(windowed(**STAGED))
    windows = []
    for step, (p99, perplexity) in enumerate([(39, 3.0), (36, 2.0), (36, 1.9), (40, 1.9), (40, 1.9)], start=1):
        schedule.observe(step, told(p99, perplexity))
        windows.append(schedule.max_tokens(step + 1))
    # After step 3: 1.9 / 3.0 has not settled. After step 4: |1.9 / 2.0 − 1| = 0.05 has, and 36, 40 ≥ 0.9 · 40.
    assert windows == [40, 40, 40, 60, 60]


@pytest.mark.parametrize(("p99", "perplexity"), [(35.9, 2.0), (40.0, 2.3)])
def test_one_step_that_misses_holds_the_window(p99: float, perplexity: float) -> None:
    schedule = LengthSchedule(windowed(**STAGED))
    assert [schedule.observe(step, told(40.0)) for step in (1, 2)] == [False, False]
    assert schedule.observe(3, told(p99, perplexity)) is False
    assert schedule.max_tokens(4) == 40


def test_the_last_stage_stays() -> None:
    schedule = LengthSchedule(windowed(**STAGED))
    widened = [step for step in range(1, 30) if schedule.observe(step, told(100.0))]
    assert widened == [3, 6]
    assert schedule.max_tokens(30) == 100


def test_steps_without_the_metrics_do_not_count() -> None:
    schedule = LengthSchedule(windowed(**STAGED))
    for metrics in ({}, {LENGTH_P99: 40.0}, told(40.0, math.nan), told(40.0, math.inf)):
        assert schedule.observe(1, metrics) is False
    assert [schedule.observe(step, told(40.0)) for step in (1, 2, 3)] == [False, False, True]


def test_the_cosine_by_hand() -> None:
    schedule = LengthSchedule(windowed(type="cyclic", min=40, max=80, period=8))
    expected = [80, 74, 60, 46, 40, 46, 60, 74]
    assert [schedule.max_tokens(step) for step in range(1, 17)] == expected * 2


def test_stairs_and_steps_by_hand() -> None:
    stairs = LengthSchedule(windowed(type="cyclic", shape="stairs", min=40, max=80, period=8, stairs=2))
    assert [stairs.max_tokens(step) for step in range(1, 9)] == [80, 80, 60, 40, 40, 40, 60, 80]
    step = LengthSchedule(windowed(type="cyclic", shape="step", min=40, max=80, period=4))
    assert [step.max_tokens(n) for n in range(1, 9)] == [40, 40, 80, 80] * 2


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["cosine", "stairs", "step"]),
    st.integers(1, 128),
    st.integers(1, 128),
    st.integers(2, 50),
    st.integers(2, 9),
    st.integers(1, 10_000),
)
def test_cycles_stay_within_their_limits_and_repeat(
    shape: str, one: int, other: int, period: int, stairs: int, step: int
) -> None:
    low, high = sorted((one, other))
    schedule = LengthSchedule(windowed(type="cyclic", shape=shape, min=low, max=high, period=period, stairs=stairs))
    assert low <= schedule.max_tokens(step) <= high
    assert schedule.max_tokens(step) == schedule.max_tokens(step + period)
    if shape == "cosine":
        phase = 2 * math.pi * ((step - 1) % period) / period
        assert schedule.max_tokens(step) == pytest.approx(low + (high - low) * math.cos(phase / 2) ** 2, abs=0.5001)


def test_the_applied_spec_differs_in_the_length_alone() -> None:
    chosen = windowed(type="cyclic", shape="step", min=40, max=80, period=4)
    applied = LengthSchedule(chosen).applied(chosen, 1)
    assert applied.rollout.max_tokens == 40
    assert applied.model_copy(update={"rollout": chosen.rollout}) == chosen


def test_steered_limits_hold_from_the_next_dispatch() -> None:
    chosen = windowed(type="cyclic", shape="step", min=40, max=80, period=4)
    schedule = LengthSchedule(chosen)
    schedule.update_spec(apply_control(chosen, "length_window.min", 10))
    assert schedule.max_tokens(1) == 10


def test_another_window_is_refused() -> None:
    schedule = LengthSchedule(windowed(**STAGED))
    with pytest.raises(ValueError, match="type"):
        schedule.update_spec(spec())
    with pytest.raises(ValueError, match="stages"):
        schedule.update_spec(windowed(**{**STAGED, "stages": [40, 50]}))
    assert schedule.max_tokens(1) == 40
    with pytest.raises(ValueError, match="fixed"):
        schedule.load(LengthSchedule(spec()).state())
    with pytest.raises(ValueError, match="stage 7"):
        schedule.load({**schedule.state(), "stage": 7})


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([10.0, 39.0, 60.0, 100.0]), st.sampled_from([1.0, 2.0, 2.1])), max_size=20),
    st.integers(0, 20),
)
def test_resumes_exactly_wherever_it_stopped(moves: list[tuple[float, float]], cut: int) -> None:
    chosen = windowed(**STAGED)
    whole, resumed = LengthSchedule(chosen), LengthSchedule(chosen)
    before, after = moves[:cut], moves[cut:]
    for step, move in enumerate(before, start=1):
        whole.observe(step, told(*move))
    resumed.load(json.loads(json.dumps(whole.state())))
    for step, move in enumerate(after, start=cut + 1):
        assert whole.observe(step, told(*move)) == resumed.observe(step, told(*move))
        assert whole.max_tokens(step + 1) == resumed.max_tokens(step + 1)
    assert whole.state() == resumed.state()

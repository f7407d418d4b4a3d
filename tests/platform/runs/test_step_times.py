"""Seconds of the last steps, and what they let one expect."""

import math

import pytest

from dressage.runs.facts.step_times import KEPT, StepTimes, p95_by_phase, range_left, with_step


def test_the_last_steps_are_kept_by_phase() -> None:
    known: StepTimes = {}
    for number in range(KEPT + 7):
        known = with_step(known, 3.0 + number, {"timing_s/wait": 1.0})
    assert {name: len(times) for name, times in known.items()} == dict.fromkeys(("step", "generate", "learn"), KEPT)
    assert (known["step"][0], known["generate"][-1], known["learn"][-1]) == (10.0, 1.0, 108.0)


@pytest.mark.parametrize("waited", [None, math.nan])
def test_a_step_without_its_waiting_has_no_phases(waited: float | None) -> None:
    assert with_step({}, 2.0, {} if waited is None else {"timing_s/wait": waited}) == {"step": [2.0]}


def test_p95_is_a_time_of_the_run() -> None:
    assert p95_by_phase({"step": [1.0] * 9, "generate": [float(n) for n in range(1, 101)], "learn": [1.0] * 4}) == {
        "generate": 95.0
    }


def test_the_range_grows_with_the_spread_of_the_steps() -> None:
    assert range_left({"step": [2.0] * 4}, 10) is None
    assert range_left({"step": [2.0] * 5}, 10) == (20.0, 20.0)
    low, high = range_left({"step": [1.0, 3.0] * 10}, 10) or (0.0, 0.0)
    spread = 1.2816 * math.sqrt((20 / 19) * 10 * (1 + 10 / 20))
    assert (low, high) == pytest.approx((20.0 - spread, 20.0 + spread))
    assert (range_left({"step": [1.0, 30.0] * 3}, 1) or (1.0,))[0] == 0.0, "never below nothing"

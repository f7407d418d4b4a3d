"""The effect card: windows, what belongs to which knob, and claims about many metrics at once."""

import math

import numpy as np
import pytest

from tests.support.about import LEARNING
from tests.trainer_core.specs import spec
from trainer_core.metrics import METRICS
from trainer_core.spec import targets
from trainer_core.steering.effects.card import Values, effects
from trainer_core.steering.effects.knobs import MEANT, NO_OUTCOMES, OTHERWISE, meant_to_move
from trainer_core.steering.effects.windows import Change, Window, windows

WINDOWS = windows(applied=31, settled=33, step=60, others=[])


def series(rng: np.random.Generator, jump: float = 0.0, phi: float = 0.0) -> Values:
    noise, found = 0.0, []
    for step in range(1, 61):
        noise = phi * noise + float(rng.standard_normal())
        found.append((step, 0.1 * step + noise + (jump if step >= 33 else 0.0)))
    return found


def test_windows_leave_out_the_batches_of_both_revisions() -> None:
    assert (WINDOWS.before, WINDOWS.after) == (Window(1, 30), Window(33, 52))
    assert (WINDOWS.cuts, WINDOWS.closed) == ((), False)
    assert windows(100, 100, 103, []).before == Window(60, 99)
    assert windows(100, 100, 103, []).after == Window(100, 103)
    assert windows(1, 1, 0, []).before.steps == windows(1, 1, 0, []).after.steps == 0


def test_other_changes_cut_the_windows_and_are_said() -> None:
    found = windows(31, 33, 60, [Change(1, 10, 12), Change(2, 20, 22), Change(4, 40, None), Change(5, 45, 46)])
    assert (found.before, found.after, found.closed) == (Window(22, 30), Window(33, 39), True)
    assert found.cuts == (
        "Another change at step 20 (revision 2) settled at step 22, where the window before begins.",
        "Another change at step 40 (revision 4) ends the window after.",
    )
    far = windows(100, 100, 200, [Change(1, 10, 12), Change(3, 140, 141)])
    assert (far.before, far.after, far.cuts, far.closed) == (Window(60, 99), Window(100, 119), (), False)


@pytest.mark.parametrize("settled", [None, 31, 34])
def test_one_that_had_not_settled_leaves_nothing_before(settled: int | None) -> None:
    found = windows(31, 33, 60, [Change(1, 29, settled)])
    assert found.before.steps == 0
    assert found.cuts == (
        "Another change at step 29 (revision 1) had not settled when this one took effect: "
        "the two cannot be separated.",
    )


def test_one_that_came_before_it_had_settled_leaves_nothing_after() -> None:
    for applied in (31, 32, 33):
        found = windows(31, 33, 60, [Change(4, applied, None)])
        assert (found.before.steps, found.after.steps, found.closed) == (30, 0, True)
        assert "the two cannot be separated" in found.cuts[0]


def test_what_a_knob_is_meant_to_move_comes_first_and_the_rest_if_it_moved() -> None:
    rng = np.random.default_rng(1)
    told = {name: series(rng) for name in ("timing_s/step", "actor/entropy", "critic/score/std", "staleness/mean")}
    told |= {"critic/score/mean": series(rng), "thinking/mean": series(rng, -20.0), "thinking/budget": series(rng, 99)}
    told |= {"perf/throughput": series(rng, 15.0), "train/pass_rate/sums": series(rng, 8.0), "mine": series(rng)}
    found = effects(["thinking.budget"], told, WINDOWS)
    assert [(one.name, one.moved) for one in found.targets] == [("thinking/mean", True), ("critic/score/mean", False)]
    assert [one.name for one in found.others] == ["perf/throughput", "train/pass_rate/sums"]
    assert (found.others_moved, found.compared) == (2, 7)
    thinking = found.targets[0]
    assert thinking.low is not None and thinking.change is not None and thinking.high is not None
    assert thinking.low < -20.0 < thinking.high < 0.0
    assert (thinking.steps[0], thinking.steps[-1], len(thinking.values)) == (1, 52, 52)


def test_at_most_eight_others_are_listed() -> None:
    rng = np.random.default_rng(2)
    told = {f"mine/{index}": series(rng, 30.0 + index) for index in range(11)}
    found = effects(["optimizer.learning_rate"], told, WINDOWS)
    assert (len(found.others), found.others_moved, found.targets) == (8, 11, ())


@pytest.mark.expensive(3, "computes many cases", about=LEARNING)
@pytest.mark.parametrize("phi", [0.0, 0.5])
def test_no_other_metric_is_named_more_often_than_stated(phi: float) -> None:
    rng = np.random.default_rng(4)
    cards = 60
    named = 0
    for _ in range(cards):
        told = {f"mine/{index}": series(rng, phi=phi) for index in range(40)}
        named += effects(["kl.coefficient"], told, WINDOWS).others_moved > 0
    assert named / cards <= 0.05


def test_values_that_are_no_numbers_are_left_out() -> None:
    rng = np.random.default_rng(6)
    values = [(step, math.nan if step > 39 else value) for step, value in series(rng)]
    (one,) = effects(["kl.coefficient"], {"critic/score/mean": values}, WINDOWS).targets
    assert (one.values_before, one.values_after) == (30, 7)
    assert (one.change, one.low, one.moved) == (None, None, False)
    assert one.after == pytest.approx(np.mean([value for step, value in values if 33 <= step <= 39]))


def test_the_largest_floats_do_not_overflow() -> None:
    rng = np.random.default_rng(6)
    values = [(step, 1.7e308 * (1 if rng.random() < 0.5 else 0.9)) for step in range(1, 61)]
    (one,) = effects(["kl.coefficient"], {"critic/score/mean": values}, WINDOWS).targets
    assert one.change is not None
    assert math.isfinite(one.change)


def test_names_are_those_of_the_registry() -> None:
    every_name = {*OTHERWISE, *(name for _, names in MEANT for name in names)}
    assert every_name | NO_OUTCOMES <= set(METRICS)
    assert not every_name & NO_OUTCOMES


def test_every_steerable_field_is_meant_to_move_something() -> None:
    for target in targets(spec(thinking={"type": "tags", "budget": 5})):
        assert "critic/score/mean" in meant_to_move(target.path)

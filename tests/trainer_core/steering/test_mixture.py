"""Mixtures: weights on their way, and ratios held among what comes back."""

import math
from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trainer_core.specs import spec
from trainer_core.spec import RunSpec, apply_control
from trainer_core.steering.curriculum import Curriculum
from trainer_core.steering.curriculum.mixture import Mixture

ROWS = {name: [{"prompt": str(row)} for row in range(50)] for name in ("math", "chat", "code")}


def mixed(
    curriculum: dict[str, Any] | None = None, transition: dict[str, int] | None = None, **weights: Any
) -> RunSpec:
    pairs = {name: weight if isinstance(weight, tuple) else (weight, None) for name, weight in weights.items()}
    finals = [{"name": name, "weight": final} for name, (_, final) in pairs.items() if final is not None]
    return spec(
        data={
            "sources": [{"name": n, "dataset": f"{n}@1", "weight": first} for n, (first, _) in pairs.items()],
            "transition": None if transition is None else {**transition, "sources": finals},
        },
        curriculum=curriculum or {"type": "uniform"},
        schedule={"steps": 100, "prompts_per_step": 10},
    )


def test_a_transition_by_hand() -> None:
    mixture = Mixture(mixed(math=(1.0, 0.2), chat=(0.0, 0.8), code=0.5, transition={"start": 10, "end": 20}))
    expected = {1: (1.0, 0.0), 10: (1.0, 0.0), 15: (0.6, 0.4), 20: (0.2, 0.8), 99: (0.2, 0.8)}
    for step, (first, second) in expected.items():
        assert mixture.weights(step) == pytest.approx({"math": first, "chat": second, "code": 0.5})


def test_steps_are_counted_by_prompts_unless_they_are_told() -> None:
    chosen = mixed(math=(1.0, 0.0), chat=(0.0, 1.0), transition={"start": 2, "end": 3})
    told, counted = Curriculum(chosen, ROWS, 0), Curriculum(chosen, ROWS, 0)
    by_step = [{draw.source for draw in told.draw(10, step)} for step in (1, 2, 3, 4)]
    assert by_step == [{"math"}, {"math"}, {"chat"}, {"chat"}]
    assert [{draw.source for draw in counted.draw(10)} for _ in range(4)] == by_step
    # Two draws for one step, as a refill makes them: only the step's number tells.
    assert {draw.source for draw in Curriculum(chosen, ROWS, 0).draw(30, 2)} == {"math"}


def test_final_weights_are_steerable() -> None:
    chosen = mixed(math=(1.0, 0.0), chat=(0.0, 1.0), transition={"start": 2, "end": 3})
    steered = apply_control(chosen, "data.transition.sources.math.weight", 1.0)
    assert Mixture(steered).weights(3) == {"math": 1.0, "chat": 1.0}


def adaptive(**values: Any) -> dict[str, Any]:
    return {"type": "adaptive_ratio", "min_groups": 0, **values}


def test_the_adjustment_is_the_authors() -> None:
    mixture = Mixture(mixed(adaptive(), math=3.0, chat=1.0, code=1.0))
    for source in ["math"] * 5 + ["chat"] * 5:
        mixture.observe(source, 0.5)
    # Targets 0.6, 0.2, 0.2; shares 0.5, 0.5, 0. Nothing of "code" has come back: the largest factor.
    assert mixture.weights(1) == pytest.approx({"math": 3.0 * 1.2, "chat": 1.0 * 0.4, "code": 10.0})


def test_adjustments_are_bounded_and_wait_for_enough_groups() -> None:
    bounded = adaptive(min_adjustment=0.5, max_adjustment=1.1, min_groups=3)
    mixture = Mixture(mixed(bounded, math=1.0, chat=1.0))
    for source in ("math", "math"):
        mixture.observe(source, 0.5)
        assert mixture.weights(1) == {"math": 1.0, "chat": 1.0}
    mixture.observe("math", 0.5)
    assert mixture.weights(1) == pytest.approx({"math": 0.5, "chat": 1.1})


@pytest.mark.parametrize(("count", "expected"), [("scored", 2), ("informative", 1)])
def test_what_counts(count: str, expected: int) -> None:
    mixture = Mixture(mixed(adaptive(count=count), math=1.0, chat=1.0))
    mixture.observe("math", 1.0)
    mixture.observe("chat", 0.5)
    shares = {"math": 0.5, "chat": 0.5} if expected == 2 else {"math": 0.0, "chat": 1.0}
    weights = mixture.weights(1)
    assert weights["chat"] == pytest.approx(0.5 / shares["chat"])
    assert weights["math"] == pytest.approx(1.0 if shares["math"] else 10.0)


def test_old_groups_are_forgotten_at_their_rate() -> None:
    mixture = Mixture(mixed(adaptive(horizon=2), math=1.0, chat=1.0))
    mixture.observe("math", 0.5)
    mixture.observe("chat", 0.5)
    kept = math.exp(-0.5)
    assert mixture.weights(1) == pytest.approx({"math": 0.5 * (1 + kept) / kept, "chat": 0.5 * (1 + kept)})


@settings(max_examples=6, deadline=None)
@given(
    st.integers(0, 1000), st.lists(st.floats(0.2, 1.0), min_size=3, max_size=3), st.sampled_from([0.0, 1.0, 4.0, 16.0])
)
def test_what_comes_back_settles_where_the_gain_says(seed: int, yields: list[float], gain: float) -> None:
    """Sources of which only a part comes back, as with rollouts that fail: c ∝ t · y^(1/(1 + k))."""
    weights = {"math": 0.5, "chat": 0.3, "code": 0.2}
    mixture = Mixture(mixed(adaptive(gain=gain, min_adjustment=0.01, max_adjustment=100.0), **weights))
    rng, back = Random(seed), Counter[str]()
    for _ in range(1500):
        for source in mixture.choose(rng, 4, 1):
            if rng.random() < yields[list(weights).index(source)]:
                mixture.observe(source, 0.5)
                back[source] += 1
    raw = [t * y ** (1 / (1 + gain)) for t, y in zip(weights.values(), yields, strict=True)]
    for source, expected in zip(weights, raw, strict=True):
        assert back[source] / back.total() == pytest.approx(expected / sum(raw), abs=0.035)


def test_groups_that_are_late_but_not_lost_do_not_move_the_mixture() -> None:
    """The published case: one source takes ten times as long to come back."""
    curriculum, waiting, back = Curriculum(mixed(adaptive(), math=0.5, chat=0.5), ROWS, 0), [], Counter[str]()
    for now in range(400):
        waiting += [(now + (20 if d.source == "math" else 2), d) for d in curriculum.draw(4)]
        for _, draw in [entry for entry in waiting if entry[0] <= now]:
            curriculum.observe(draw.prompt_id, 0.5)
            back[draw.source] += 1
        waiting = [entry for entry in waiting if entry[0] > now]
    assert back["math"] / back.total() == pytest.approx(0.5, abs=0.02)


def test_without_adaptation_they_do_not() -> None:
    curriculum, luck, back = Curriculum(mixed(math=0.5, chat=0.5), ROWS, 0), Random(0), Counter[str]()
    for draw in curriculum.draw(4000):
        back[draw.source] += draw.source == "math" or luck.random() < 0.2
    assert back["math"] / back.total() > 0.8


def test_new_weights_start_a_new_count() -> None:
    chosen = mixed(adaptive(), math=1.0, chat=1.0)
    mixture = Mixture(chosen)
    mixture.observe("math", 0.5)
    assert mixture.weights(1)["math"] == 0.5
    mixture.update_spec(apply_control(chosen, "data.sources.math.weight", 3.0))
    assert mixture.weights(1) == {"math": 3.0, "chat": 1.0}
    mixture.observe("math", 0.5)
    mixture.update_spec(apply_control(chosen, "curriculum.max_adjustment", 2.0))
    assert mixture.weights(1) == {"math": 1.0, "chat": 1.0}, "the weights went back to what they were: a new count too"


def test_other_controls_leave_the_count() -> None:
    chosen = mixed(adaptive(), math=1.0, chat=1.0)
    mixture = Mixture(chosen)
    mixture.observe("math", 0.5)
    mixture.update_spec(apply_control(chosen, "curriculum.max_adjustment", 2.0))
    assert mixture.weights(1) == {"math": 0.5, "chat": 2.0}


def test_a_source_of_weight_zero_is_not_raised() -> None:
    curriculum = Curriculum(mixed(adaptive(), math=1.0, chat=0.0), ROWS, 0)
    for draw in curriculum.draw(300):
        assert draw.source == "math"
        curriculum.observe(draw.prompt_id, 0.5)
    assert {draw.source for draw in curriculum.draw(300)} == {"math"}

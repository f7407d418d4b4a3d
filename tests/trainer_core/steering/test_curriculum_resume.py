"""A curriculum that was steered goes on from its checkpoint as if it had never stopped."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trainer_core.specs import spec, weighted
from trainer_core.spec import RunSpec, apply_control
from trainer_core.steering.curriculum import Curriculum

SOURCES = {name: [{"prompt": f"{name}{row}"} for row in range(count)] for name, count in (("a", 9), ("b", 60))}
START = spec(
    data=weighted(a=1.0, b=2.0),
    curriculum={"type": "difficulty_band", "min_pass_rate": 0.2, "max_pass_rate": 0.8, "explore": 0.2},
)
CONTROLS: list[tuple[str, float]] = [
    ("data.sources.a.weight", 0.0),
    ("data.sources.a.weight", 5.0),
    ("data.sources.b.weight", 0.5),
    ("curriculum.min_pass_rate", 0.0),
    ("curriculum.min_pass_rate", 0.5),
    ("curriculum.max_pass_rate", 0.6),
    ("curriculum.max_pass_rate", 1.0),
    ("curriculum.explore", 0.0),
    ("curriculum.explore", 1.0),
]

batches = st.tuples(st.just("draw"), st.integers(1, 10), st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]))
controls = st.tuples(st.just("steer"), st.sampled_from(CONTROLS))


def play(curriculum: Curriculum, chosen: RunSpec, moves: list[Any]) -> RunSpec:
    """Draw, observe and steer; returns the spec that holds in the end."""
    for move in moves:
        if move[0] == "steer":
            chosen = apply_control(chosen, *move[1])
            curriculum.update_spec(chosen)
            continue
        for draw in curriculum.draw(move[1]):
            curriculum.observe(draw.prompt_id, move[2])
    return chosen


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.lists(st.one_of(batches, controls), max_size=25))
def test_the_next_two_hundred_draws_are_the_same(seed: int, moves: list[Any]) -> None:
    whole = Curriculum(START, SOURCES, seed)
    chosen = play(whole, START, moves)
    state = json.loads(json.dumps(whole.state()))
    resumed = Curriculum(chosen, SOURCES, seed)
    resumed.load(state)
    assert resumed.draw(200) == whole.draw(200)
    assert resumed.fallbacks == whole.fallbacks


def test_a_state_is_a_picture_and_not_a_window() -> None:
    curriculum = Curriculum(START, SOURCES, 3)
    play(curriculum, START, [("draw", 30, 0.0)])
    state = curriculum.state()
    before = json.dumps(state)
    play(curriculum, START, [("draw", 30, 1.0)])
    assert json.dumps(state) == before
    assert json.dumps(curriculum.state()) != before


def test_the_mixture_of_a_seed_is_fixed() -> None:
    chosen = spec(data=weighted(a=1.0, b=3.0))
    counts = [sum(draw.source == "a" for draw in Curriculum(chosen, SOURCES, seed).draw(4000)) for seed in (0, 0, 1)]
    # Binomial(4000, 1/4): standard deviation 27.
    assert counts[0] == counts[1] != counts[2]
    assert all(abs(count - 1000) < 4 * 27 for count in counts)


@pytest.mark.parametrize("explore", [0.0, 0.5, 1.0])
def test_no_prompt_comes_twice_within_a_draw_that_leaves_some_over(explore: float) -> None:
    curriculum = Curriculum(apply_control(START, "curriculum.explore", explore), SOURCES, 0)
    for step in range(40):
        batch = [draw.prompt_id for draw in curriculum.draw(9)]
        assert len(set(batch)) == 9
        for prompt_id in batch:
            curriculum.observe(prompt_id, (step % 5) / 4)

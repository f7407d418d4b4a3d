"""Every kind of curriculum, with every way to allocate and to hint: exact resumption, reachability, controls."""

import json
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trainer_core.specs import document
from trainer_core.spec import RunSpec, apply_control
from trainer_core.spec.data import curriculum as spec_curriculum
from trainer_core.spec.data.batching import Allocation
from trainer_core.steering.curriculum import Curriculum

KINDS: dict[str, dict[str, Any]] = {
    "uniform": {},
    "difficulty_band": {"min_pass_rate": 0.2, "max_pass_rate": 0.8, "explore": 0.2},
    "goldilocks": {"min_pass_rate": 0.2, "max_pass_rate": 0.8},
    "difficulty_target": {"explore": 0.2, "predict": True},
    "adaptive_ratio": {"min_groups": 3, "horizon": 20},
}
STEERED: dict[str, list[tuple[str, float]]] = {
    "difficulty_band": [("curriculum.min_pass_rate", 0.5), ("curriculum.explore", 1.0)],
    "goldilocks": [("curriculum.max_pass_rate", 0.5), ("curriculum.max_pass_rate", 1.0)],
    "difficulty_target": [("curriculum.temperature", 1.0), ("curriculum.target_pass_rate", 0.9)],
    "adaptive_ratio": [("curriculum.max_adjustment", 2.0), ("curriculum.gain", 4.0)],
}
ALLOCATIONS: dict[str, dict[str, Any]] = {
    "equal": {},
    "dars": {"max_samples": 40},
    "uncertainty": {"bonus": 0.1},
    "knapsack": {"max_samples": 12},
}
SOURCES = {
    name: [{"prompt": f"{row}", "pass_rate": row / count, "solution": "a b c d e f g h"} for row in range(count)]
    for name, count in (("sums", 9), ("products", 40))
}


def chosen(kind: str, allocation: str, hints: bool) -> RunSpec:
    whole = document(
        curriculum={"type": kind, **KINDS[kind]},
        batching={"allocation": {"type": allocation, **ALLOCATIONS[allocation]}},
        prompting={"hints": {}} if hints else {},
        schedule={"prompts_per_step": 4},
    )
    whole["data"]["transition"] = {"start": 2, "end": 12, "sources": [{"name": "sums", "weight": 5.0}]}
    return RunSpec.model_validate(whole)


def test_no_kind_is_forgotten() -> None:
    members = get_args(get_args(spec_curriculum.Curriculum)[0])
    assert {member.model_fields["type"].default for member in members} == set(KINDS)
    members = get_args(get_args(Allocation)[0])
    assert {member.model_fields["type"].default for member in members} == set(ALLOCATIONS)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_resumes_exactly_from_any_point(kind: str, data: st.DataObject) -> None:
    now = chosen(kind, data.draw(st.sampled_from(list(ALLOCATIONS))), data.draw(st.booleans()))
    controls = [*STEERED.get(kind, []), ("data.sources.sums.weight", 2.0), ("data.sources.products.weight", 0.5)]
    moves = data.draw(
        st.lists(
            st.one_of(st.tuples(st.integers(1, 9), st.sampled_from([0.0, 0.3, 0.5, 1.0])), st.sampled_from(controls)),
            max_size=16,
        )
    )
    seed = data.draw(st.integers(0, 99))
    whole = Curriculum(now, SOURCES, seed)

    def play(curriculum: Curriculum, spec: RunSpec) -> RunSpec:
        for move in moves:
            if isinstance(move[0], str):
                spec = apply_control(spec, *move)
                curriculum.update_spec(spec)
                continue
            for draw in curriculum.draw(move[0]):
                curriculum.observe(draw.prompt_id, move[1], draw.samples)
        return spec

    now = play(whole, now)
    resumed = Curriculum(now, SOURCES, seed)
    resumed.load(json.loads(json.dumps(whole.state())))
    assert resumed.draw(20) == whole.draw(20)
    play(whole, now)
    play(resumed, now)
    assert resumed.draw(60) == whole.draw(60)
    assert resumed.state() == whole.state()


@pytest.mark.parametrize("kind", KINDS)
def test_no_prompt_that_may_be_drawn_starves(kind: str) -> None:
    curriculum = Curriculum(chosen(kind, "equal", False), SOURCES, 0)
    seen = set()
    for _ in range(150):
        for draw in curriculum.draw(8):
            seen.add(draw.prompt_id)
            curriculum.observe(draw.prompt_id, 1.0 if draw.row_index % 2 else 0.0)
    allowed = {
        f"{name}:{row}"
        for name, rows in SOURCES.items()
        for row, item in enumerate(rows)
        if kind != "goldilocks" or 0.2 <= item["pass_rate"] <= 0.8
    }
    assert seen == allowed


@pytest.mark.parametrize("kind", KINDS)
def test_the_mixture_is_that_of_the_final_weights_in_the_end(kind: str) -> None:
    curriculum = Curriculum(chosen(kind, "equal", False), SOURCES, 0)
    curriculum.draw(4 * 12)
    draws = curriculum.draw(3000, 50)
    # Weights 5 and 3 in the end: binomial(3000, 5/8), standard deviation 27.
    assert abs(sum(draw.source == "sums" for draw in draws) - 1875) < 5 * 27

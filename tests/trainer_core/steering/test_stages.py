"""Stages of the data: when gates open, what is drawn, and that a resumed run is in the same stage."""

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trainer_core.specs import spec, weighted
from trainer_core.spec import RunSpec, apply_control
from trainer_core.steering.curriculum import Curriculum
from trainer_core.steering.curriculum.outcome import GroupOutcome

ROWS = {
    name: [{"prompt": str(row), "pass_rate": row / 40} for row in range(40)] for name in ("sums", "terms", "proofs")
}
PASS_RATE = {"type": "pass_rate", "threshold": 0.75, "window": 2, "max_steps": 6}


def staged(gate: dict[str, Any], *behind: dict[str, Any], curriculum: Any = None, **first: Any) -> RunSpec:
    stages = [{"name": "easy", "sources": [{"name": "sums"}, {"name": "terms"}], "gate": gate, **first}, *behind]
    if not behind:
        stages.append({"name": "hard", "sources": [{"name": "proofs", "weight": 2.0}, {"name": "terms"}]})
    return spec(
        data={**weighted(sums=1.0, terms=1.0, proofs=1.0), "stages": stages},
        curriculum=curriculum or {"type": "uniform"},
        schedule={"steps": 100, "prompts_per_step": 8},
    )


class Loop:
    """Plays steps as the run's loop does: draw, take in what comes back, end the step."""

    def __init__(self, chosen: RunSpec, rows: Any = ROWS, seed: int = 0) -> None:
        self.spec, self.curriculum = chosen, Curriculum(chosen, rows, seed)
        self.step = 0
        self.told: list[tuple[int, str, float | None]] = []

    def play(self, right: int = 2, *, tokens: int = 40, reward: float = 0.5, late: int | None = None) -> Counter[str]:
        """One step of which each group has ``right`` right ones of 4; returns its groups by source."""
        self.step += 1
        drawn = self.curriculum.draw(8, self.step)
        self.told += [(one.step, one.name, one.value) for one in self.curriculum.begun()]
        for draw in drawn:
            drawn_for = self.step if late is None else late
            self.curriculum.count(GroupOutcome(draw.prompt_id, drawn_for, right, 4, 4 * reward, 4, tokens))
            self.curriculum.observe(draw.prompt_id, right / 4, 4)
        self.curriculum.end_step(self.step)
        return Counter(draw.source for draw in drawn)

    def stage(self) -> float:
        return self.curriculum.metrics()["curriculum/stage"]


def test_a_stage_of_steps_is_as_long_as_it_says() -> None:
    loop = Loop(staged({"type": "steps", "steps": 3}))
    sources = [set(loop.play()) for _ in range(5)]
    assert all(found <= {"sums", "terms"} for found in sources[:3])
    assert all(found <= {"proofs", "terms"} for found in sources[3:])
    assert loop.told == [(1, "easy", None), (4, "hard", None)]
    assert loop.stage() == 2.0


def test_a_pass_rate_opens_the_gate_once_the_window_is_full() -> None:
    loop = Loop(staged(PASS_RATE))
    for right in (4, 1, 3, 3, 0):  # the means of two steps: 0.625, 0.5, 0.75
        loop.play(right)
    assert loop.told == [(1, "easy", None), (5, "hard", 0.75)]


@pytest.mark.parametrize(
    ("gate", "steps", "value"),
    [
        ({**PASS_RATE, "min_steps": 5}, 6, 1.0),
        ({**PASS_RATE, "when": "at_most", "threshold": 0.5}, 7, 1.0),
        ({**PASS_RATE, "type": "reward", "threshold": 0.5}, 3, 0.5),
        ({**PASS_RATE, "type": "reward", "threshold": 0.51}, 7, 0.5),
        ({**PASS_RATE, "type": "reward", "threshold": 0.5, "when": "at_most"}, 3, 0.5),
        ({**PASS_RATE, "type": "response_length", "threshold": 10.0}, 3, 10.0),
        ({**PASS_RATE, "type": "response_length", "threshold": 10.5}, 7, 10.0),
        ({**PASS_RATE, "type": "response_length", "threshold": 9.0, "when": "at_most"}, 7, 10.0),
    ],
)
def test_gates_by_hand(gate: dict[str, Any], steps: int, value: float) -> None:
    """Groups of 4 right ones, 40 tokens and rewards of 0.5: the step with which the second stage begins, and why."""
    loop = Loop(staged(gate))
    for _ in range(8):
        loop.play(4)
    assert loop.told == [(1, "easy", None), (steps, "hard", value)]


def test_a_gate_looks_at_the_sources_that_it_names() -> None:
    loop = Loop(staged({**PASS_RATE, "sources": ["terms"]}))
    for step in range(1, 4):
        for draw in loop.curriculum.draw(8, step):
            right = 4 if draw.source == "sums" else 1
            loop.curriculum.count(GroupOutcome(draw.prompt_id, step, right, 4, 0.0, 4, 40))
        loop.curriculum.end_step(step)
    assert [one.name for one in loop.curriculum.begun()] == ["easy"]


def test_groups_of_an_earlier_stage_do_not_open_the_next_gate() -> None:
    """Where generation runs ahead, groups that were drawn before the stage come back in it."""
    more = {"name": "more", "gate": {**PASS_RATE, "window": 1}}
    loop = Loop(staged({"type": "steps", "steps": 1}, more, {"name": "last"}))
    loop.play()
    for _ in range(3):
        loop.play(4, late=1)
    assert [name for _, name, _ in loop.told] == ["easy", "more"]
    loop.play(4)
    loop.play()
    assert loop.told[-1] == (6, "last", 1.0)


def test_failed_rewards_open_no_gate() -> None:
    loop = Loop(staged({**PASS_RATE, "threshold": 0.0, "when": "at_least"}))
    for step in range(1, 8):
        for draw in loop.curriculum.draw(8, step):
            loop.curriculum.count(GroupOutcome(draw.prompt_id, step, 0, 0, 0.0, 4, 40))
        loop.curriculum.end_step(step)
    hard = loop.curriculum.begun()[-1]
    assert (hard.step, hard.value) == (7, None) and "was unknown" in hard.why


def test_a_refill_comes_from_the_stage_of_its_step() -> None:
    loop = Loop(staged({"type": "steps", "steps": 1}))
    assert {draw.source for draw in loop.curriculum.draw(40, 1)} == {"sums", "terms"}
    assert {draw.source for draw in loop.curriculum.draw(40, 1)} == {"sums", "terms"}
    assert {draw.source for draw in loop.curriculum.draw(40, 2)} == {"proofs", "terms"}


def test_a_stage_without_sources_draws_all_by_their_own_weights() -> None:
    loop = Loop(staged({"type": "steps", "steps": 1}, {"name": "all"}))
    loop.play()
    assert {draw.source for draw in loop.curriculum.draw(60, 2)} == {"sums", "terms", "proofs"}


def test_shares_are_those_of_the_stage() -> None:
    loop = Loop(staged({"type": "steps", "steps": 1}))
    loop.play()
    found = Counter(draw.source for draw in loop.curriculum.draw(3000, 2))
    # Binomial(3000, 2/3): standard deviation 26.
    assert abs(found["proofs"] - 2000) < 4 * 26 and found["sums"] == 0


def test_a_steered_weight_holds_in_its_stage_and_is_not_taken_into_the_next() -> None:
    loop = Loop(staged({"type": "steps", "steps": 3}))
    loop.play()
    loop.spec = apply_control(loop.spec, "data.stages.easy.sources.terms.weight", 0.0)
    loop.curriculum.update_spec(loop.spec)
    assert set(loop.play()) == set(loop.play()) == {"sums"}
    assert {draw.source for draw in loop.curriculum.draw(60, 4)} == {"proofs", "terms"}


def test_a_weight_of_a_later_stage_may_be_steered_before_it() -> None:
    loop = Loop(staged({"type": "steps", "steps": 1}))
    loop.play()
    loop.curriculum.update_spec(apply_control(loop.spec, "data.stages.hard.sources.terms.weight", 0.0))
    assert {draw.source for draw in loop.curriculum.draw(60, 2)} == {"proofs"}


def test_a_steered_threshold_opens_the_gate() -> None:
    loop = Loop(staged(PASS_RATE))
    loop.play(2)
    loop.play(2)
    loop.curriculum.update_spec(apply_control(loop.spec, "data.stages.easy.gate.threshold", 0.5))
    loop.play(2)
    assert loop.told == [(1, "easy", None), (3, "hard", 0.5)]


def test_the_band_of_a_stage_holds_in_it() -> None:
    chosen = staged(
        {"type": "steps", "steps": 1},
        {"name": "rest"},
        curriculum={"type": "goldilocks", "min_pass_rate": 0.1, "max_pass_rate": 0.2},
        band={"min_pass_rate": 0.5, "max_pass_rate": 1.0},
    )
    curriculum = Curriculum(chosen, ROWS, 0)
    assert {draw.row_index for draw in curriculum.draw(400, 1)} == set(range(20, 40))
    assert {draw.row_index for draw in curriculum.draw(400, 2)} == set(range(4, 9))


def test_a_band_without_rows_is_refused_before_its_stage_comes() -> None:
    chosen = staged(
        {"type": "steps", "steps": 1},
        {"name": "rest", "band": {"min_pass_rate": 0.99}},
        curriculum={"type": "goldilocks"},
    )
    with pytest.raises(ValueError, match=r"no row of the source 'sums' has pass rates between 0\.99 and 1"):
        Curriculum(chosen, ROWS, 0)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.lists(st.integers(0, 4), min_size=1, max_size=9), st.sampled_from(["uniform", "band"]))
def test_a_resumed_run_is_in_the_same_stage_and_leaves_it_at_the_same_step(
    seed: int, rights: list[int], kind: str
) -> None:
    banded = {"type": "difficulty_band", "explore": 0.2}
    chosen = staged(PASS_RATE, curriculum=banded if kind == "band" else None)
    if kind == "band":
        chosen = staged(PASS_RATE, curriculum=banded, band={"max_pass_rate": 0.6})
    whole = Loop(chosen, seed=seed)
    for right in rights:
        whole.play(right)
    resumed = Loop(chosen, seed=seed)
    resumed.step, resumed.told = whole.step, list(whole.told)
    resumed.curriculum.load(json.loads(json.dumps(whole.curriculum.state())))
    for right in (3, 3, 4, 0, 4, 4, 1):
        assert resumed.play(right) == whole.play(right)
        assert resumed.curriculum.metrics() == whole.curriculum.metrics()
    assert resumed.told == whole.told
    assert resumed.curriculum.state() == whole.curriculum.state()


def test_a_checkpoint_of_other_stages_is_refused() -> None:
    loop = Loop(staged(PASS_RATE))
    loop.play()
    state = loop.curriculum.state()
    other = Curriculum(staged({"type": "steps", "steps": 1}, {"name": "last"}, name="first"), ROWS, 0)
    before = other.state()
    with pytest.raises(ValueError, match="the checkpoint's stage 1, 'easy', is not in the run"):
        other.load(state)
    assert other.state() == before
    with pytest.raises(ValueError, match="stages of a run cannot change"):
        other.update_spec(loop.spec)


def test_a_checkpoint_from_before_there_were_stages_is_read() -> None:
    curriculum = Curriculum(spec(data=weighted(sums=1.0, terms=1.0, proofs=1.0)), ROWS, 0)
    state = curriculum.state()
    curriculum.draw(20)
    for name in ("stages", "tally", "priors", "rates"):
        del state[name]
    curriculum.load(state)
    assert curriculum.metrics() == {} and curriculum.begun() == []
    assert curriculum.draw(20) == Curriculum(spec(data=weighted(sums=1.0, terms=1.0, proofs=1.0)), ROWS, 0).draw(20)

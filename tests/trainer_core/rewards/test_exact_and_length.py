"""Exact answers, length penalty and overlong shaping."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.trainer_core.rewards.completions import sample
from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders.text.exact import ExactGrader
from trainer_core.rewards.graders.text.length_penalty import LengthPenaltyGrader
from trainer_core.rewards.overlong import overlong_punishment


@pytest.mark.parametrize(
    ("options", "text", "grade"),
    [
        ({}, "Paris", 1.0),
        ({}, "  Paris\n", 1.0),
        ({}, "<think>Rome</think>Paris", 1.0),
        ({}, "paris", 0.0),
        ({}, "Paris!", 0.0),
        ({}, "", 0.0),
        ({"ignore_case": True}, "PARIS", 1.0),
    ],
)
def test_exact(options: dict[str, bool], text: str, grade: float) -> None:
    assert ExactGrader(**options).grade(sample(text), {"answer": "Paris"}) == grade


def test_exact_without_strip_compares_every_character() -> None:
    assert ExactGrader(strip=False).grade(sample("Paris"), {"answer": "Paris "}) == 0.0
    assert ExactGrader().grade(sample("Paris"), {"answer": "Paris "}) == 1.0


def test_exact_compares_numbers_as_text() -> None:
    assert ExactGrader().grade(sample("24"), {"answer": 24}) == 1.0
    assert ExactGrader().grade(sample("24.0"), {"answer": 24}) == 0.0


@pytest.mark.parametrize(
    ("text", "grade"), [("2", 1.0), ("two", 1.0), ("3", 0.0), ("2two", 0.0), ("['2', 'two']", 0.0), ("", 0.0)]
)
def test_a_list_accepts_any_of_its_answers(text: str, grade: float) -> None:
    assert ExactGrader().grade(sample(text), {"answer": ["2", "two"]}) == grade


@pytest.mark.parametrize(
    "item",
    [
        {},
        {"answer": None},
        {"answer": [["a"]]},
        {"answer": []},
        {"answer": ["a", ""]},
        {"answer": {"a": 1}},
        {"answer": False},
        {"answer": 10**5000},
    ],
    ids=["missing", "null", "lists", "no_answer", "blank_among_others", "object", "bool", "huge"],
)
def test_exact_needs_a_gold_answer(item: dict[str, object]) -> None:
    with pytest.raises(GraderError, match="'answer'"):
        ExactGrader().grade(sample("x"), item)


@pytest.mark.parametrize("gold", ["", " ", "\n", "\u200b", "\ufeff \u2060", "\u3164"])
@pytest.mark.parametrize("text", ["", " ", "Paris"])
def test_an_empty_gold_answer_is_an_error_and_equals_nothing(gold: str, text: str) -> None:
    for grader in (ExactGrader(), ExactGrader(strip=False), ExactGrader(ignore_case=True)):
        with pytest.raises(GraderError, match="'answer' is empty"):
            grader.grade(sample(text), {"answer": gold})


@pytest.mark.parametrize(("tokens", "grade"), [(0, 0.0), (100, 0.0), (150, -0.25), (300, -1.0), (9999, -1.0)])
def test_length_penalty_is_linear(tokens: int, grade: float) -> None:
    found = LengthPenaltyGrader(free=100, full=300).grade(sample("x", tokens=tokens), {})
    assert found == grade
    assert math.copysign(1.0, found) == (1.0 if grade == 0.0 else -1.0), "a penalty of nothing is 0, not -0"


def test_a_length_that_nobody_knows_costs_neither_nothing_nor_all() -> None:
    with pytest.raises(GraderError, match="number of tokens is not known"):
        LengthPenaltyGrader(full=10).grade(replace(sample("a"), completion_tokens=None), {})


def test_length_penalty_needs_room_for_its_ramp() -> None:
    with pytest.raises(ValidationError, match="full must be above free"):
        LengthPenaltyGrader(free=100, full=100)


@pytest.mark.parametrize(
    ("length", "expected"), [(0, 0.0), (80, 0.0), (81, -0.1), (90, -1.0), (99, -1.9), (100, -2.0), (120, -2.0)]
)
def test_overlong_by_hand(length: int, expected: float) -> None:
    found = overlong_punishment(length, max_tokens=100, buffer=20, factor=2.0)
    assert found == pytest.approx(expected, abs=1e-15)
    assert str(overlong_punishment(0, 100, 20)) == "0.0"


@given(st.integers(1, 5000), st.data())
def test_overlong_is_the_formula_of_the_paper(max_tokens: int, data: st.DataObject) -> None:
    buffer = data.draw(st.integers(1, max_tokens))
    length = data.draw(st.integers(0, max_tokens))
    # DAPO, eq. 13, piece by piece.
    expected = 0.0 if length <= max_tokens - buffer else ((max_tokens - buffer) - length) / buffer
    assert overlong_punishment(length, max_tokens, buffer) == pytest.approx(expected, abs=1e-12)

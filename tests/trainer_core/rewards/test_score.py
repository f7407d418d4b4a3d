"""Definitions and scores: weighted sums, and errors that are never zeros."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.trainer_core.rewards.completions import sample
from trainer_core.rewards import RewardDefinition, split_thinking
from trainer_core.rewards.graders.math.numeric import NumericGrader
from trainer_core.rewards.score import Score, score, score_batch

CORRECT = {"name": "correct", "weight": 2.0, "grader": {"type": "numeric"}}
FORM = {"name": "form", "weight": 0.5, "grader": {"type": "format"}}
LENGTH = {"name": "length", "weight": 0.25, "grader": {"type": "length_penalty", "free": 0, "full": 100}}
EXACT = {"name": "exact", "weight": 1.0, "grader": {"type": "exact", "reference": "gold"}}


def definition(*components: dict[str, Any], **values: Any) -> RewardDefinition:
    return RewardDefinition.model_validate({"components": components, **values})


def test_a_reward_is_the_weighted_sum_of_its_grades() -> None:
    found = score(definition(CORRECT, FORM, LENGTH), sample("<think>a</think>24", tokens=50), {"answer": "24"})
    assert found == Score(reward=2.0 + 0.5 - 0.125, parts={"correct": 1.0, "form": 1.0, "length": -0.5})
    assert found.error is None


def test_a_bad_completion_scores_low_and_is_no_error() -> None:
    assert score(definition(CORRECT, FORM), sample(""), {"answer": "24"}) == Score(0.0, {"correct": 0.0, "form": 0.0})


def test_trouble_with_one_part_is_an_error_of_the_whole() -> None:
    found = score(definition(FORM, CORRECT, EXACT), sample("<think>a</think>24"), {"answer": "many"})
    assert found.reward is None
    assert found.error == "correct: the gold answer 'many' is not a number"
    assert found.parts == {"form": 1.0}


def test_a_part_for_other_rows_is_neither_graded_nor_added() -> None:
    checked, told = {**CORRECT, "row_field": "answer"}, {**EXACT, "row_field": "gold"}
    both = definition(checked, told, FORM)
    answer = sample("<think>a</think>24")
    assert score(both, answer, {"answer": "24"}) == Score(2.5, {"correct": 1.0, "form": 1.0})
    assert score(both, answer, {"gold": "24", "answer": None}) == Score(1.5, {"exact": 1.0, "form": 1.0})
    alone = score(definition(checked, told), answer, {"text": "24"})
    assert (alone.reward, alone.parts) == (None, {})
    assert alone.error == "no part of the reward is for this row: it holds none of answer, gold"


@pytest.mark.parametrize("grade", [float("nan"), float("inf"), -float("inf")])
def test_a_grade_that_is_no_number_is_an_error(grade: float, monkeypatch: pytest.MonkeyPatch) -> None:
    # No grader of today returns one; one of tomorrow might.
    monkeypatch.setattr(NumericGrader, "grade", lambda *_: grade)
    found = score(definition(CORRECT, FORM), sample("<think>a</think>24"), {"answer": "24"})
    assert found == Score(None, {"form": 1.0}, f"correct: the grade is {grade}, not a finite number")


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200), st.integers(0, 10**9))
def test_no_output_of_the_policy_raises_or_fails(text: str, tokens: int) -> None:
    everything = definition(CORRECT, FORM, LENGTH, EXACT)
    found = score(everything, sample(text, tokens=tokens), {"answer": 24, "gold": "x"})
    assert found.error is None and found.reward is not None


def test_a_batch_has_one_score_per_sample() -> None:
    samples = [sample("24"), sample("25")]
    found = score_batch(definition(CORRECT), samples, [{"answer": 24}, {}])
    assert [one.reward for one in found] == [2.0, None]
    with pytest.raises(ValueError, match="2 samples cannot be scored against 1 rows"):
        score_batch(definition(CORRECT), samples, [{"answer": 24}])


@pytest.mark.parametrize("reward", [float("nan"), float("inf"), -float("inf")])
def test_a_score_is_a_finite_number(reward: float) -> None:
    with pytest.raises(ValueError, match="not a finite number"):
        Score(reward=reward)


@pytest.mark.parametrize(("reward", "error"), [(None, None), (1.0, "x: failed")])
def test_a_score_is_either_a_reward_or_an_error(reward: float | None, error: str | None) -> None:
    with pytest.raises(ValueError, match="either a reward or an error"):
        Score(reward=reward, error=error)


@pytest.mark.parametrize(
    ("components", "message"),
    [
        ([], "at least 1 item"),
        ([CORRECT, CORRECT], "'correct' is used twice"),
        ([{**CORRECT, "name": "overlong"}], "'overlong' is taken"),
        ([{**CORRECT, "name": "Bad name"}], "pattern"),
        ([{**CORRECT, "weight": float("nan")}], "finite"),
        ([{**CORRECT, "weight": 1e9}], "less than or equal to 1000"),
        ([{**CORRECT, "grader": {"type": "magic"}}], "magic"),
        ([{**CORRECT, "grader": {"type": "numeric", "tolerence": 0.1}}], "tolerence"),
    ],
)
def test_a_definition_that_makes_no_sense_is_refused(components: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        definition(*components)


def test_a_definition_survives_json() -> None:
    whole = definition(CORRECT, FORM, LENGTH, EXACT, success_threshold=1.5)
    assert RewardDefinition.model_validate_json(whole.model_dump_json()) == whole


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("24", (None, "24")),
        ("<think> a </think> 24 ", ("a", "24")),
        ("<think></think>24", ("", "24")),
        ("<think>a", ("a", "")),
        ("a</think>24", ("a", "24")),
        ("so <think>a</think>24", ("a", "so 24")),
        ("<think>a</think>b<think>c</think>d", ("a", "b<think>c</think>d")),
        ("", (None, "")),
    ],
)
def test_split_thinking(text: str, expected: tuple[str | None, str]) -> None:
    assert split_thinking(text, "<think>", "</think>") == expected


CHANNELS = ("<|channel|>analysis<|message|>", "<|end|>", "<|channel|>final<|message|>")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{CHANNELS[0]}a{CHANNELS[1]}<|start|>assistant{CHANNELS[2]} 24", ("a", "24")),
        (f"{CHANNELS[2]}24", (None, "24")),
        (f"{CHANNELS[0]}a", ("a", "")),
        # A preamble for the user stands in a channel of its own, and is no answer.
        (f"{CHANNELS[0]}a{CHANNELS[1]}<|channel|>commentary<|message|>so<|end|>{CHANNELS[2]}24", ("a", "24")),
        ("24", (None, "24")),
    ],
)
def test_split_channels(text: str, expected: tuple[str | None, str]) -> None:
    assert split_thinking(text, *CHANNELS) == expected

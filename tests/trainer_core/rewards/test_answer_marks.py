"""Marks of answers, and what a reward reads of them: as many texts that have a mark as texts that only look like it."""

from typing import Any

import pytest

from trainer_core.rewards import RewardDefinition
from trainer_core.rewards.answers import readings
from trainer_core.rewards.answers.marks import TELLS, marks


@pytest.mark.parametrize(
    ("mark", "has", "lacks"),
    [
        ("boxed", "So \\boxed{\\frac{1}{2}}.", "So \\boxed{1"),
        ("boxed", "\\fbox 5", "boxed{5}"),
        ("answer_tags", "<answer>4</answer>", "<answer>4"),
        ("hashes", "48/2=24\n#### 72", "####"),
        ("answer_line", "**Answer:** yes", "I cannot answer this."),
        ("answer_line", "Hence the answer is blue", "Answers differ"),
        ("choice", "It must be (B).", "Vitamin K"),
        ("choice", "C", "AB"),
        ("code", "```python\npass\n```", "Write ```pass``` here."),
        ("code", "Here:\n```\nx\n```\nDone.", "Use `x`"),
        ("ends_in_number", "She has 1,000.5 $.", "She has 18 dollars"),
        ("ends_in_number", "x = 3/4**", "3 apples"),
        ("number", "18 dollars", "eighteen dollars"),
        ("final_answer", "So it is 5.", "I do not know."),
        ("empty", " \n", "."),
    ],
)
def test_a_mark_and_what_only_looks_like_it(mark: str, has: str, lacks: str) -> None:
    assert mark in marks(has)
    assert mark not in marks(lacks)
    assert set(marks(has)) <= set(TELLS)


def test_an_empty_answer_has_no_other_mark() -> None:
    assert marks("") == {"empty"}


def definition(*graders: dict[str, Any]) -> RewardDefinition:
    return RewardDefinition.model_validate(
        {"components": [{"name": f"part{number}", "grader": grader} for number, grader in enumerate(graders)]}
    )


@pytest.mark.parametrize(
    ("grader", "place", "has", "found", "lacks"),
    [
        ({"type": "math"}, "final answer", "It is 2.", "2", "two"),
        ({"type": "math"}, "final answer", "\\boxed{1} or \\boxed{2}", "1, 2", "\\boxed{2"),
        ({"type": "math", "extraction": "boxed"}, "\\boxed{}", "\\boxed{1}. No: \\boxed{2}", "2", "2"),
        ({"type": "math", "extraction": "last_number"}, "last number", "1 and 2", "2", "two"),
        ({"type": "math", "extraction": "tagged"}, "<answer> … </answer>", "<answer> 2 </answer>", "2", "\\boxed{2}"),
        ({"type": "numeric"}, "last number", "#### 72", "72", "none"),
        ({"type": "code_tests"}, "fenced code block", "```\nx\n```", "x\n", "x"),
        ({"type": "magistral_format"}, "\\boxed{}", "\\boxed{2}", "2", "2"),
        ({"type": "magistral_format", "answer": "fenced"}, "fenced code block", "```py\nx\n```", "x\n", "x"),
    ],
)
def test_what_graders_read(grader: dict[str, Any], place: str, has: str, found: str, lacks: str) -> None:
    [reading] = readings(definition(grader))
    assert (reading.component, reading.place) == ("part0", place)
    assert reading.find(has) == found
    assert reading.find(lacks) is None


@pytest.mark.parametrize("grader", [{"type": "exact"}, {"type": "math", "extraction": "whole"}])
def test_graders_of_the_whole_answer_read_no_place(grader: dict[str, Any]) -> None:
    assert readings(definition(grader)) == ()


def test_graders_inside_others_are_found() -> None:
    inner = {"right": {"type": "math", "extraction": "boxed"}, "same": {"type": "exact"}}
    [reading] = readings(definition({"type": "multi", "graders": inner, "calculate_output": "right + same"}))
    assert (reading.component, reading.mark) == ("part0", "boxed")

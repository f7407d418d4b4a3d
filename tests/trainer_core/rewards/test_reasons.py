"""Reasons that graders tell, and what a score keeps of them."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.trainer_core.rewards.completions import sample
from trainer_core.link.explanation import PartExplanation, explanations
from trainer_core.rewards import RewardDefinition
from trainer_core.rewards.graders.tools import Tools
from trainer_core.rewards.isolated.process import GradeLimits, GradingProcess, TemplateProcess
from trainer_core.rewards.reasons import MAX_REASON, Explained, cut, joined, quoted, tell, told
from trainer_core.rewards.score import score


def reasons(grader: Mapping[str, Any], text: str, item: Mapping[str, Any], tokens: int = 8) -> str | None:
    reward = RewardDefinition.model_validate({"components": [{"name": "part", "weight": 2.0, "grader": grader}]})
    found = score(reward, sample(text, tokens=tokens), item).explained["part"]
    assert found.weight == 2.0
    return found.reason


@pytest.mark.parametrize(
    ("grader", "text", "item", "reason"),
    [
        ({"type": "exact"}, " Rome", {"answer": "Paris"}, "The answer is “Rome”, the gold answer “Paris”."),
        ({"type": "numeric"}, "so 24.5", {"answer": "1/2"}, "The answer's last number is 49/2, the gold number 1/2."),
        ({"type": "numeric"}, "none", {"answer": "24"}, "The answer holds no number; the gold number is 24."),
        ({"type": "math"}, "\\boxed{24}", {"answer": "24"}, "Reads “24”, which equals the gold answer “24”."),
        ({"type": "math"}, "\\boxed{2}", {"answer": "24"}, "Reads “2”, which does not equal the gold answer “24”."),
        (
            {"type": "math", "extraction": "boxed"},
            "it is 24",
            {"answer": "24"},
            "The answer has no \\boxed{}; the gold answer is “24”.",
        ),
        (
            {"type": "choice"},
            "The answer is (B).",
            {"answer": "C"},
            "The answer settles on “B”; the gold letter is “C”.",
        ),
        ({"type": "format"}, "24", {}, "The completion does not think."),
        (
            {"type": "format"},
            "<think>a</think><think>b</think>24",
            {},
            "<think> stands 2 times and </think> 2 times, and each must stand once.",
        ),
        ({"type": "format"}, "<think>a</think>24", {}, "The form is right."),
        ({"type": "format"}, "<think>a</think> ", {}, "There is no answer."),
        (
            {"type": "magistral_format"},
            "<think>a</think>24",
            {},
            "The answer holds 0 \\boxed{}, and one is asked for.",
        ),
        ({"type": "regex", "pattern": "[0-9]+"}, "24 m", {}, "The answer “24 m” does not match the whole pattern."),
        ({"type": "string_check"}, "a", {"answer": "b"}, "Equal: “a” against “b”."),
        (
            {"type": "length_penalty", "free": 10, "full": 20},
            "a",
            {},
            "15 tokens; 10 cost nothing, 20 the whole weight.",
        ),
        (
            {"type": "ifeval", "credit": "share"},
            "no comma",
            {
                "instruction_id_list": ["punctuation:no_comma", "keywords:existence"],
                "kwargs": [{}, {"keywords": ["sun"]}],
            },
            "Follows 1 of 2 instructions; not keywords:existence.",
        ),
        (
            {"type": "json_schema", "json_schema": {"type": "object"}},
            "[]",
            {},
            "The answer is JSON and does not fit the schema.",
        ),
        ({"type": "exact"}, "x", {}, "Failed: the row has no field 'answer' to compare with"),
    ],
)
def test_each_grader_tells_what_it_has_found(
    grader: dict[str, Any], text: str, item: dict[str, Any], reason: str
) -> None:
    assert reasons(grader, text, item, tokens=15) == reason


def test_parts_of_a_composite_tell_under_their_names() -> None:
    grader = {
        "type": "composite",
        "how": "gate",
        "parts": [{"grader": {"type": "format"}}, {"grader": {"type": "exact"}}],
    }
    assert reasons(grader, "24", {"answer": "24"}) == "format 0: The completion does not think."
    assert reasons(grader, "<think>a</think>24", {"answer": "24"}) == (
        "format 1: The form is right.\nexact 1: The answer is “24”, the gold answer “24”."
    )


def test_a_failure_that_counts_as_zero_is_its_parts_reason() -> None:
    reward = RewardDefinition.model_validate(
        {
            "components": [
                {"name": "right", "grader": {"type": "exact"}, "on_error": "zero"},
                {"name": "form", "weight": 0.5, "grader": {"type": "format"}},
            ]
        }
    )
    found = score(reward, sample("<think>a</think>b"), {})
    assert (found.reward, found.parts) == (0.5, {"right": 0.0, "form": 1.0})
    assert found.explained == {
        "right": Explained(1.0, "Failed, counts as 0: the row has no field 'answer' to compare with"),
        "form": Explained(0.5, "The form is right."),
    }


def test_a_process_of_its_own_tells_the_same() -> None:
    template = TemplateProcess()
    process = GradingProcess(template)

    class Isolated:
        def grade(self, grader: Any, one: Any, item: Mapping[str, Any]) -> float:
            return process.grade(grader, one, item, GradeLimits())

    reward = RewardDefinition.model_validate({"components": [{"name": "right", "grader": {"type": "exact"}}]})
    try:
        found = score(reward, sample("b"), {"answer": "a"}, Tools(pure=Isolated()))
    finally:
        process.close()
        template.close()
    assert found.explained == {"right": Explained(1.0, "The answer is “b”, the gold answer “a”.")}


def test_reasons_are_bounded_and_say_so() -> None:
    long = "x" * 5000
    assert len(cut(long)) == MAX_REASON
    assert cut(long).endswith("x… [cut: 5000 characters]")
    assert cut("y" * MAX_REASON) == "y" * MAX_REASON
    assert cut("a\ud800\0b") == "a?\ufffdb"
    assert quoted(" a\n b" + "c" * 200) == f"“a b{'c' * 157}…”"
    assert explanations({"right": Explained(2.0, long)}) == {"right": PartExplanation(weight=2.0, reason=cut(long))}
    assert PartExplanation(weight=1.0, reason=long).reason == cut(long)


def test_nothing_is_told_where_nobody_asks() -> None:
    tell("lost")
    with told() as outer:
        tell("first")
        with told() as inner:
            tell("inner")
        tell("")
        tell("second")
    assert (joined(outer), joined(inner), joined([])) == ("first\nsecond", "inner", None)

"""OpenAI's graders: string_check, text_similarity, multi, and their templates."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders import Grader, grade
from trainer_core.rewards.sample import Sample

ADAPTER: TypeAdapter[Any] = TypeAdapter(Grader)


def graded(grader: dict[str, Any], text: str, item: dict[str, Any]) -> float:
    sample = Sample(output_text=text, thinking_text=None, answer_text=text, completion_tokens=1)
    return grade(ADAPTER.validate_python(grader), sample, item)


@pytest.mark.parametrize(
    ("operation", "text", "expected"),
    [("eq", "Paris", 1), ("eq", "paris", 0), ("ne", "paris", 1), ("like", "In Paris.", 1), ("like", "in paris", 0),
     ("ilike", "in paris", 1), ("ilike", "in Rome", 0)],
)  # fmt: skip
def test_string_check(operation: str, text: str, expected: float) -> None:
    assert graded({"type": "string_check", "operation": operation}, text, {"answer": "Paris"}) == expected


@pytest.mark.parametrize("operation", ["eq", "ne", "like", "ilike"])
@pytest.mark.parametrize("gold", ["", "  ", "\u200b"])
def test_string_check_against_an_empty_field_is_an_error(operation: str, gold: str) -> None:
    for text in ("", "Paris"):
        with pytest.raises(GraderError, match="is empty"):
            graded({"type": "string_check", "operation": operation}, text, {"answer": gold})


def test_string_check_may_ask_for_empty_output() -> None:
    for operation, text, expected in (("eq", "", 1.0), ("eq", "a", 0.0), ("ne", "a", 1.0), ("ne", "", 0.0)):
        assert graded({"type": "string_check", "operation": operation, "reference": ""}, text, {}) == expected


def test_templates_read_rows_and_json() -> None:
    grader = {
        "type": "string_check",
        "input": "{{ sample.output_json.city[0] }}!",
        "reference": "{{item.gold.city}}!",
    }
    row = {"gold": {"city": "Paris"}}
    assert graded(grader, '{"city": ["Paris"]}', row) == 1.0
    assert graded(grader, "no JSON", row) == 0.0
    assert graded(grader, '{"town": 1}', row) == 0.0
    with pytest.raises(GraderError, match=r"the row has no item\.gold\.city"):
        graded(grader, '{"city": ["Paris"]}', {})


def test_what_is_filled_in_is_no_template() -> None:
    assert graded({"type": "string_check"}, "{{item.answer}}", {"answer": "42"}) == 0.0


@pytest.mark.parametrize("place", ["item", "sample.secret", "x.y", "item.__class__()", "", "item.a b"])
def test_bad_templates_are_refused(place: str) -> None:
    with pytest.raises(ValidationError):
        ADAPTER.validate_python({"type": "string_check", "input": "{{" + place + "}}"})


METRICS = "fuzzy_match bleu gleu meteor cosine rouge_1 rouge_2 rouge_3 rouge_4 rouge_5 rouge_l".split()  # noqa: SIM905


@pytest.mark.parametrize("metric", METRICS)
def test_text_similarity_is_one_on_itself_and_low_on_others(metric: str) -> None:
    grader = {"type": "text_similarity", "evaluation_metric": metric}
    text = "the quick brown fox jumps over the lazy dog"
    assert graded(grader, text, {"answer": text}) == pytest.approx(1.0)
    assert graded(grader, "zzz", {"answer": text}) < 0.1
    assert graded(grader, "", {"answer": text}) == 0.0
    assert 0.0 < graded(grader, "the quick brown fox jumps over it", {"answer": text}) < 1.0
    assert graded({**grader, "pass_threshold": 1.0}, "the quick", {"answer": text}) == 0.0


def test_text_similarity_by_hand() -> None:
    given, row = "the cat sat", {"answer": "the cat ate fish"}
    expected = {"rouge_1": 4 / 7, "rouge_2": 2 / 5, "rouge_l": 4 / 7, "gleu": 3 / 10, "cosine": 2 / 12**0.5}
    for metric, value in expected.items():
        grader = {"type": "text_similarity", "evaluation_metric": metric}
        assert graded(grader, given, row) == pytest.approx(value), metric


MULTI = {
    "type": "multi",
    "graders": {
        "same": {"type": "string_check"},
        "close": {"type": "text_similarity", "evaluation_metric": "rouge_1"},
    },
    "calculate_output": "max(same, 0.5 * close) ^ 2",
}


def test_multi() -> None:
    assert graded(MULTI, "Paris", {"answer": "Paris"}) == 1.0
    assert graded(MULTI, "paris", {"answer": "Paris"}) == 0.25


def test_a_formula_without_a_value_is_an_error() -> None:
    with pytest.raises(GraderError, match="no value"):
        graded({**MULTI, "calculate_output": "1 / same"}, "x", {"answer": "y"})


@pytest.mark.parametrize(
    "formula", ["other", "same.x", "__import__('os')", "same if close else 1", "", "f(same)", "'a'"]
)
def test_bad_formulas_are_refused(formula: str) -> None:
    with pytest.raises(ValidationError):
        ADAPTER.validate_python({**MULTI, "calculate_output": formula})


@pytest.mark.parametrize(
    "formula", ["-" * 1900 + "same", "+".join(["same"] * 390), "[" + "-" * 250 + "same]", "(" * 199 + "1" + ")" * 199]
)
def test_deep_formulas_are_refused_or_computed_whatever_the_stack(formula: str) -> None:
    """Python's own limits would depend on how deep the caller stands."""

    def verdict(depth: int) -> str:
        if depth:
            return verdict(depth - 1)
        try:
            ADAPTER.validate_python({**MULTI, "calculate_output": formula})
        except ValidationError as error:
            return str(error.errors()[0]["msg"])
        return "accepted"

    assert verdict(0) == verdict(400)


def test_the_deepest_formula_is_told_and_computed() -> None:
    with pytest.raises(ValidationError, match="nested more than 300 levels deep"):
        ADAPTER.validate_python({**MULTI, "calculate_output": "-" * 1900 + "same"})
    assert graded({**MULTI, "calculate_output": "-" * 298 + "same"}, "Paris", {"answer": "Paris"}) == 1.0


@pytest.mark.parametrize(("how", "expected"), [("sum", 2.5), ("product", 0.0), ("min", 0.0), ("gate", 0.5)])
def test_composite(how: str, expected: float) -> None:
    parts = [
        {"grader": {"type": "string_check"}, "weight": 2.0},
        {"grader": {"type": "string_check", "operation": "ilike"}, "weight": 0.5},
        {"grader": {"type": "string_check", "operation": "ne"}, "weight": 9.0},
    ]
    assert graded({"type": "composite", "how": how, "parts": parts}, "Paris", {"answer": "Paris"}) == expected


def test_behind_a_closed_gate_nothing_is_graded() -> None:
    broken = {"type": "string_check", "reference": "{{item.missing}}"}
    parts = [{"grader": {"type": "string_check"}}, {"grader": broken}]
    assert graded({"type": "composite", "how": "gate", "parts": parts}, "x", {"answer": "y"}) == 0.0

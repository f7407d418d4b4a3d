"""Graders of answers that need no jail: math on plain forms, regex, JSON Schema, format, language, IFEval."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from trainer_core.rewards import RewardDefinition
from trainer_core.rewards.errors import GraderError, grouped
from trainer_core.rewards.graders import Grader, grade, needs_jail
from trainer_core.rewards.graders.math import extract
from trainer_core.rewards.graders.text.instructions import CHECKS
from trainer_core.rewards.sample import Sample, split_thinking
from trainer_core.rewards.score import score as score_sample

ADAPTER: TypeAdapter[Any] = TypeAdapter(Grader)


def sample(text: str) -> Sample:
    thinking, answer = split_thinking(text, "<think>", "</think>")
    return Sample(output_text=text, thinking_text=thinking, answer_text=answer, completion_tokens=1)


def graded(grader: dict[str, Any], text: str, item: dict[str, Any] | None = None) -> float:
    return grade(ADAPTER.validate_python(grader), sample(text), item or {})


@pytest.mark.parametrize(
    ("text", "gold", "expected"),
    [
        (r"\boxed{41} no, \boxed{42}", "42", 1),
        (r"\boxed{42} no, \boxed{41}", "42", 0),
        (r"\boxed{\dfrac12}", r"\frac{1}{2}", 1),
        (r"\boxed{0.5}", r"\frac{1}{2}", 1),
        (r"\boxed{1{,}000}", "1000", 1),
        (r"\boxed{90^\circ}", "90", 1),
        (r"\boxed{\text{ Evelyn }}", r"\text{Evelyn}", 1),
        (r"\boxed{7}", ["6", "7"], 1),
        (r"\boxed{7}", r"so \boxed{7}", 1),
        (r"\boxed{7}", "reasons #### 7", 1),
        ("42", "42", 1),
        ("So she has 42 apples.", "42", 1),
        ("<answer>42</answer> Any questions? 7", "42", 1),
        ("48/2=24\n#### 42", "42", 1),
        ("The final answer is **42**.\nI checked it in 3 ways.", "42", 1),
        ("Hence $x = \\frac{1}{2}$.", "0.5", 1),
        ("no idea", "42", 0),
        (r"\boxed{42", "42", 0),
    ],
)
def test_math_on_plain_forms(text: str, gold: Any, expected: float) -> None:
    assert graded({"type": "math"}, text, {"answer": gold}) == expected


def test_math_extractions() -> None:
    assert graded({"type": "math", "extraction": "last_number"}, "first 3, then 1,250.", {"answer": "1250"}) == 1.0
    assert graded({"type": "math", "extraction": "tagged"}, "<answer>3</answer><answer>4", {"answer": 3}) == 1.0
    assert graded({"type": "math", "extraction": "whole"}, "1/4", {"answer": "0.25"}) == 1.0


def test_math_that_only_sympy_decides_needs_the_jail() -> None:
    assert needs_jail(ADAPTER.validate_python({"type": "math"}))
    with pytest.raises(GraderError, match="on the cluster"):
        graded({"type": "math"}, r"\boxed{x+x}", {"answer": "2x"})


@pytest.mark.parametrize("item", [{}, {"answer": []}, {"answer": None}, {"answer": [None]}])
def test_math_without_gold_is_an_error(item: dict[str, Any]) -> None:
    with pytest.raises(GraderError):
        graded({"type": "math"}, r"\boxed{1}", item)


def test_boxes() -> None:
    assert extract.boxed(r"\boxed{\frac{1}{2}} \fbox{a\}b} \boxed 5 \boxed{\boxed{1}}") == [
        r"\frac{1}{2}", r"a\}b", "5", r"\boxed{1}",
    ]  # fmt: skip
    assert extract.boxed("\\boxed{" * 50_000) == []


def test_regex() -> None:
    assert graded({"type": "regex", "pattern": r"\d+"}, "<think>x</think> 42 ") == 1.0
    assert graded({"type": "regex", "pattern": r"\d+"}, "42 x") == 0.0
    with pytest.raises(GraderError, match=r"^pattern took longer than 0\.2 s; simplify it$"):
        graded({"type": "regex", "pattern": r"(?:(a|aa)\1?)+"}, "a" * 5000 + "b")


SCHEMA = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}, "s": {"pattern": "^a"}}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [('{"n": 1}', 1), ('```json\n{"n": 1}\n```', 1), ('{"n": "1"}', 0), ('{"n": 1, "s": "b"}', 0), ("no", 0),
     ('{"n": NaN}', 0), ("[" * 100_000, 0)],
)  # fmt: skip
def test_json_schema(text: str, expected: float) -> None:
    assert graded({"type": "json_schema", "json_schema": SCHEMA}, text) == expected


@pytest.mark.parametrize(
    "schema",
    [{"type": 3}, {"$ref": "http://127.0.0.1/x"}, {"patternProperties": {"a": {}}}, {"pattern": "(a{999}){999}"}],
)
def test_unsafe_schemas_are_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ADAPTER.validate_python({"type": "json_schema", "json_schema": schema})


@pytest.mark.parametrize(
    ("text", "answer", "expected"),
    [
        (r"<think>a</think> \boxed{1}", "boxed", 1),
        (r"<think>a</think> \boxed{1} \boxed{2}", "boxed", 0),
        (r"<think>a \boxed{1}</think> 1", "boxed", 0),
        (r"hm <think>a</think> \boxed{1}", "boxed", 0),
        (r"<think>a</think></think> \boxed{1}", "boxed", 0),
        ("<think>a</think>\n```python\nx\n```", "fenced", 1),
        ("<think>a</think>\n```\nx\n```", "fenced", 0),
    ],
)
def test_magistral_format(text: str, answer: str, expected: float) -> None:
    assert graded({"type": "magistral_format", "answer": answer}, text) == expected


@pytest.mark.parametrize(
    ("text", "highlights"),
    [
        ("none", 0),
        ("**a**", 1),
        ("**a** and **b**", 2),
        ("*a* and *b*", 2),
        ("*a*", 1),
        ("*a* and **b**", 2),
        ("**** and **", 0),
        ("****", 0),
        ("* *", 0),
        ("*a\nb*", 0),
    ],
)
def test_highlights_are_counted_as_ifeval_does(text: str, highlights: int) -> None:
    check = CHECKS["detectable_format:number_highlighted_sections"]
    assert [check(text, {"num_highlights": n}) for n in range(4)] == [n <= highlights for n in range(4)]


FRENCH = "Je dois additionner les deux nombres pour trouver la réponse à cette question."
ENGLISH = "I have to add the two numbers to find the answer to this question."
CODE = "```python\nfor the_answer in range(numbers): print('the answer of this question')\n```"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"<think>{FRENCH}</think>{FRENCH} {CODE}", 1),
        (f"<think>{ENGLISH}</think>{FRENCH}", 0),
        (f"<think>{FRENCH}</think>{ENGLISH}", 0),
        (f"<think>{FRENCH}</think> $x = \\frac{{1}}{{2}}$ {CODE}", 1),
    ],
)
def test_language(text: str, expected: float) -> None:
    assert graded({"type": "language"}, text, {"prompt": "Combien font deux nombres que l'on additionne ?"}) == expected


def test_language_without_a_problem_is_an_error() -> None:
    with pytest.raises(GraderError, match="no text"):
        graded({"type": "language"}, FRENCH)


@pytest.mark.parametrize(
    ("name", "given", "good", "bad"),
    [
        ("length_constraints:number_words", {"num_words": 3, "relation": "at least"}, "a b c", "a b"),
        ("length_constraints:number_sentences", {"num_sentences": 2, "relation": "less than"}, "A b.", "A b. C d."),
        ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "a\n***\nb", "a\n\nb"),
        ("keywords:existence", {"keywords": ["red", "blue"]}, "Red and blue", "red"),
        ("keywords:frequency", {"keyword": "a", "frequency": 2, "relation": "at least"}, "a a", "a"),
        ("keywords:forbidden_words", {"forbidden_words": ["red"]}, "tired", "Red!"),
        ("keywords:forbidden_words", {"forbidden_words": ["red wine"]}, "red, wine", "Some Red wine."),
        ("keywords:forbidden_words", {"forbidden_words": ["blue", "well-known"]}, "well known", "a Well-Known one"),
        ("keywords:forbidden_words", {"forbidden_words": ["C++", "(a|b)"]}, "C, a", "C++ is"),
        ("keywords:letter_frequency", {"letter": "e", "let_frequency": 2, "let_relation": "less than"}, "e", "ee"),
        ("detectable_format:json_format", {}, '```json\n{"a": 1}\n```', "{a}"),
        ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "* a\n* b", "* a"),
        ("detectable_format:multiple_sections", {"section_spliter": "Day", "num_sections": 2}, "Day 1\nDay 2", "Day 1"),
        ("detectable_format:title", {}, "<<Joy>>\nx", "Joy"),
        ("detectable_format:number_highlighted_sections", {"num_highlights": 1}, "*a b*", "a b"),
        ("detectable_content:number_placeholders", {"num_placeholders": 1}, "[name]", "name"),
        ("detectable_content:postscript", {"postscript_marker": "P.S."}, "x\nP.S. y", "x"),
        ("change_case:english_lowercase", {}, "all small", "All"),
        ("change_case:english_capital", {}, "ALL BIG", "All"),
        ("punctuation:no_comma", {}, "a b", "a, b"),
        ("startend:end_checker", {"end_phrase": "The end."}, "x the end.", "the end. x"),
        ("startend:quotation", {}, '"a"', "a"),
        (
            "change_case:capital_word_frequency",
            {"capital_frequency": 2, "capital_relation": "less than"},
            "ONE Two",
            "ONE TWO",
        ),
        (
            "length_constraints:nth_paragraph_first_word",
            {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "Then"},
            'First.\n\n"then, b',
            "Then.\n\nfirst",
        ),
        (
            "length_constraints:nth_paragraph_first_word",
            {"num_paragraphs": 1, "nth_paragraph": 1, "first_word": "a"},
            "a?",
            "a\n\nb",
        ),
        ("detectable_format:constrained_response", {}, "Well. My answer is maybe.", "My answer is perhaps."),
        ("combination:two_responses", {}, "a\n******\nb", "a ****** a"),
        ("combination:two_responses", {}, "****** a ****** b ******", "a ****** ****** b"),
        ("combination:repeat_prompt", {"prompt_to_repeat": "Say hi."}, "say hi. Hi!", "Hi! Say hi."),
        ("language:response_language", {"language": "fr"}, FRENCH, ENGLISH),
        ("language:response_language", {"language": "fr"}, "12", ENGLISH),
    ],
)
def test_instructions(name: str, given: dict[str, Any], good: str, bad: str) -> None:
    row = {"instruction_id_list": [name], "kwargs": [given]}
    assert [graded({"type": "ifeval"}, text, row) for text in (good, bad, " ")] == [1.0, 0.0, 0.0]


def test_every_row_of_ifeval_can_be_checked() -> None:
    """The names that IFEval has, each with its parameters in a row of it."""
    for line in (Path(__file__).parents[2] / "data" / "shapes" / "ifeval.jsonl").read_text().splitlines():
        assert graded({"type": "ifeval"}, "No.", json.loads(line)) in (0.0, 1.0)
    assert len(CHECKS) == 25


def test_instructions_in_part() -> None:
    row = {"instruction_id_list": ["punctuation:no_comma", "startend:quotation"], "kwargs": [{}, {}]}
    assert graded({"type": "ifeval", "credit": "share"}, "a", row) == 0.5
    with pytest.raises(GraderError, match="no check"):
        graded({"type": "ifeval"}, "a", {"instruction_id_list": ["x:y"], "kwargs": [{}]})
    with pytest.raises(GraderError, match="as many"):
        graded({"type": "ifeval"}, "a", {"instruction_id_list": ["x:y"], "kwargs": []})


@pytest.mark.parametrize(
    ("on_error", "reward", "stop"), [("exclude", None, False), ("zero", 1.0, False), ("stop", None, True)]
)
def test_what_an_error_does(on_error: str, reward: float | None, stop: bool) -> None:
    definition = RewardDefinition.model_validate(
        {
            "components": [
                {"name": "right", "grader": {"type": "regex", "pattern": "x"}},
                {"name": "broken", "grader": {"type": "exact"}, "on_error": on_error},
            ]
        }
    )
    result = score_sample(definition, sample("x"), {})
    assert (result.reward, result.stop) == (reward, stop)
    message = "broken: the row has no field 'answer' to compare with"
    assert (message in result.forgiven) if on_error == "zero" else (result.error == message)


def test_errors_are_grouped() -> None:
    errors = ["line 3: at 0x7f01", "other", "line 14: at 0x7f02"]
    assert grouped(errors) == [("line 3: at 0x7f01", 2), ("other", 1)]

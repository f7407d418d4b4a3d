"""Inputs that have made graders slow, or might: for each pure grader texts of any size, built to make it look twice."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter

from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.graders import Grader

Text = Callable[[int], str]
Row = Callable[[int], Mapping[str, Any]]
ANY: TypeAdapter[GraderModel] = TypeAdapter(Grader)


@dataclass(frozen=True)
class Hostile:
    """A grader, and a text and row of about ``n`` characters."""

    name: str
    grader: dict[str, Any]
    text: Text
    row: Row = field(default=lambda n: {"answer": "1"})


def _repeated(piece: str, before: str = "", after: str = "") -> Text:
    return lambda n: before + piece * (n // len(piece)) + after


def _array(item: Callable[[int], Any]) -> Text:
    return lambda n: json.dumps([item(index) for index in range(n // 10)])


def chain(levels: int) -> dict[str, Any]:
    """A schema in which each definition refers to the next one twice."""
    definitions: dict[str, Any] = {
        f"d{level}": {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(levels)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**definitions, f"d{levels}": {}}}


_LANGUAGE = {"type": "language", "language": "en"}
_BRANCH = {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/a"}}
_SCHEMAS: dict[str, tuple[dict[str, Any], Text]] = {
    "references": (chain(11), lambda n: "1"),
    "recursion": (
        {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [_BRANCH, dict(_BRANCH)]}}},
        lambda n: "[" * (n // 2000) + "]" * (n // 2000),
    ),
    "unevaluated": (
        {"allOf": [{"properties": {"a": True}}] * 100, "unevaluatedProperties": False},
        lambda n: json.dumps({str(index): 1 for index in range(n // 10)}),
    ),
    "unique objects": ({"uniqueItems": True}, _array(lambda index: {"a": index})),
    "unique arrays": ({"uniqueItems": True}, _array(lambda index: [index, {}])),
    "unique mixed": ({"uniqueItems": True}, _array(lambda index: index if index % 2 else [index])),
    "enum": ({"items": {"enum": [{"a": index} for index in range(100)]}}, _array(lambda index: {"a": 1})),
    "depth": ({"type": "array"}, _repeated("[")),
    "digits": ({"multipleOf": 3}, _repeated("1")),
}
_CHECKS: dict[str, dict[str, Any]] = {
    "length_constraints:number_words": {"num_words": 1, "relation": "at least"},
    "length_constraints:number_sentences": {"num_sentences": 1, "relation": "at least"},
    "length_constraints:number_paragraphs": {"num_paragraphs": 1},
    "keywords:existence": {"keywords": ["x", "y"]},
    "keywords:frequency": {"keyword": "aa", "frequency": 1, "relation": "at least"},
    "keywords:forbidden_words": {"forbidden_words": ["x"]},
    "keywords:letter_frequency": {"letter": "a", "let_frequency": 1, "let_relation": "at least"},
    "detectable_format:json_format": {},
    "detectable_format:number_bullet_lists": {"num_bullets": 1},
    "detectable_format:multiple_sections": {"section_spliter": "Section", "num_sections": 1},
    "detectable_format:title": {},
    "detectable_format:number_highlighted_sections": {"num_highlights": 1},
    "detectable_content:number_placeholders": {"num_placeholders": 1},
    "detectable_content:postscript": {"postscript_marker": "P.S."},
    "change_case:english_lowercase": {},
    "change_case:english_capital": {},
    "punctuation:no_comma": {},
    "startend:end_checker": {"end_phrase": "a"},
    "startend:quotation": {},
}
_SIGNS = (
    "a",
    "a.",
    "!",
    "<<",
    "<<a",
    "*",
    "* ",
    "[",
    "***",
    " ***",
    "\n",
    "\n ",
    "- ",
    "-a\n",
    "Section ",
    "```",
    "{",
    '"',
)
_METRICS = ("fuzzy_match", "bleu", "gleu", "meteor", "cosine", "rouge_1", "rouge_5", "rouge_l")
_PART = {"type": "numeric"}

HOSTILE = (
    *(
        Hostile(f"language {sign!r}", _LANGUAGE, _repeated(sign))
        for sign in ("\\[", "\\(", "`", "```", "$", "$$", "\\a{", "<", "<a", "https:", "{}", "\\[\\(", "\\] \\[")
    ),
    Hostile("language of the row", {"type": "language"}, lambda n: "x", lambda n: {"prompt": "\\(" * (n // 2)}),
    *(
        Hostile(f"numeric {sign!r}", {"type": "numeric"}, _repeated(sign))
        for sign in ("1", "1,", "1,111", "1,111x", ".", "-", "1.", "1e", "1 /", "1   ", "1_", "1%")
    ),
    *(
        Hostile(f"numeric in LaTeX {sign!r}", {"type": "numeric"}, _repeated(sign))
        for sign in ("\\frac1", "\\frac{1}{", "$1", "{1", "1^", "x_{1", "1{,}", "\\sqrt{1}", "2^{", "((1", "\\(1")
    ),
    *(
        Hostile(f"choice {sign!r}", {"type": "choice"}, _repeated(sign), lambda n: {"answer": "A"})
        for sign in (
            "answer is ",
            "the answer ",
            "A or ",
            "(",
            "\\boxed{",
            "\\text{",
            "so ",
            "A",
            "<answer>",
            "\n",
            "not ",
        )
    ),
    *(
        Hostile(f"ifeval {name} {sign!r}", {"type": "ifeval"}, _repeated(sign, "x"), row)
        for name, given in _CHECKS.items()
        for row in [lambda n, name=name, given=given: {"instruction_id_list": [name], "kwargs": [given]}]
        for sign in _SIGNS
    ),
    *(
        Hostile(f"json_schema {name}", {"type": "json_schema", "json_schema": s}, t)
        for name, (s, t) in _SCHEMAS.items()
    ),
    *(
        Hostile(
            f"text_similarity {metric}",
            {"type": "text_similarity", "evaluation_metric": metric},
            _repeated("a b "),
            lambda n: {"answer": "b a " * (n // 4)},
        )
        for metric in _METRICS
    ),
    Hostile(
        "text_similarity of a template",
        {"type": "text_similarity", "input": "{{sample.output_text}}" * 900},
        _repeated("ab"),
    ),
    *(
        Hostile(
            f"string_check {how}",
            {
                "type": "string_check",
                "input": "{{sample.output_text}}",
                "reference": "{{item.answer}}",
                "operation": how,
            },
            _repeated("a"),
            lambda n: {"answer": "a" * (n // 2) + "b"},
        )
        for how in ("eq", "ne", "like", "ilike")
    ),
    *(
        Hostile(f"regex {pattern}", {"type": "regex", "pattern": pattern}, _repeated("a", after="!"))
        for pattern in ("(a|a)*b", "(a+)+$", "a*a*a*a*b", ".*.*.*x", "(a|aa)+$")
    ),
    *(Hostile(f"format {sign!r}", {"type": "format"}, _repeated(sign)) for sign in ("<think>", "</think>", " ")),
    *(
        Hostile(
            f"magistral_format {sign!r}",
            {"type": "magistral_format", "answer": answer},
            _repeated(sign, "<think></think>"),
        )
        for answer in ("boxed", "fenced")
        for sign in ("\\boxed", "\\boxed{", "\\boxed ", "{", "```\n", "```a \n", "\n```a", " ")
    ),
    Hostile("exact", {"type": "exact", "ignore_case": True}, _repeated("ß"), lambda n: {"answer": "ß" * n}),
    Hostile("length_penalty", {"type": "length_penalty"}, _repeated("a")),
    Hostile(
        "multi",
        {"type": "multi", "graders": {"a": _PART}, "calculate_output": "-" * 250 + "a"},
        _repeated("1,"),
    ),
    Hostile("composite", {"type": "composite", "parts": [{"grader": _PART}] * 16}, _repeated("1,")),
)
"""At least one for every grader that needs no tool."""

"""Mappings: what they make of rows, what they refuse with which words, and what is proposed for files of others."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.support.growth import NOT_QUADRATIC, growth
from tests.trainer_core.datasets.foreign_rows import FOREIGN, NOT_FOR_PROMPTS
from trainer_core.datasets.mapping import DatasetMapping, propose, shape_of
from trainer_core.datasets.mapping.path import parse_path, written
from trainer_core.datasets.mapping.template import parse_template

Q = {"prompt": {"kind": "columns", "template": "{q}"}}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)
NAMES = st.sampled_from(["q", "choices", "answer", "messages", "tests", "label", "__class__"])
MAPPINGS = [
    DatasetMapping.model_validate(document)
    for document in (
        {**Q, "answer": {"path": "answer", "rule": "last_number"}, "tests": {"path": "tests"}, "json_columns": ["q"]},
        {**Q, "answer": {"path": "answer", "rule": "choice_index", "choices": ["choices"], "first": 1}},
        {**Q, "answer": {"path": "label", "rule": "choice_text", "choices": ["q", "answer"]}, "source": "label"},
        {**Q, "system": "{choices|letters}", "answer": {"path": "answer[0].a", "rule": "boxed", "optional": True}},
        {"prompt": {"kind": "chat", "path": "messages"}, "tags": {"x": "label.y"}, "left_out": ["answer"]},
        {"prompt": {"kind": "columns", "template": "{q|lines}{choices?|numbers}{label|json}", "form": "text"}},
    )
]


def made(document: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    return shape_of(DatasetMapping.model_validate(document)).convert(row)


@given(row=st.dictionaries(NAMES | st.text(max_size=3), JSON, max_size=7))
@settings(max_examples=150, deadline=None)
def test_any_row_is_converted_or_refused_with_a_sentence(row: dict[str, Any]) -> None:
    before = json.dumps(row)
    for mapping in MAPPINGS:
        try:
            converted = shape_of(mapping).convert(row)
        except ValueError as error:
            assert type(error) is ValueError and str(error).endswith("."), error
        else:
            assert ("prompt" in converted) != ("messages" in converted)
    propose([row, row])
    assert json.dumps(row) == before


@given(steps=st.lists(st.text(max_size=6) | st.integers(-99, 99), min_size=1, max_size=9))
@settings(max_examples=200, deadline=None)
def test_a_path_is_read_as_it_was_written(steps: list[str | int]) -> None:
    named = ["column", *steps]
    assert parse_path(written(named)) == tuple(named)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (lambda n: "{" * n, 1_000_000),
        (lambda n: "{a" * n, 1_000_000),
        (lambda n: "{{" * n + "{", 9_999),
        (lambda n: '{["' + "\\" * n, 19_000),
        (lambda n: "}" * n, 20_000),
    ],
    ids=range(5),
)
def test_hostile_templates_are_refused_in_linear_time(text: Callable[[int], str], size: int) -> None:
    def refused(text: str) -> None:
        with pytest.raises(ValidationError):
            DatasetMapping.model_validate({"prompt": {"kind": "columns", "template": text}})

    assert growth(refused, text, size) < NOT_QUADRATIC


def test_text_that_a_template_makes_is_bounded() -> None:
    row = {"q": "x" * 900_000}
    with pytest.raises(ValueError, match="more than 1,048,576 characters"):
        made({"prompt": {"kind": "columns", "template": "{q}" * 90}}, row)


@pytest.mark.parametrize("rule", ["last_number", "after_marker", "boxed"])
@pytest.mark.parametrize("sign", ["1,", "#", "\\boxed{", "-"])
def test_answers_are_searched_in_linear_time(sign: str, rule: str) -> None:
    mapping = {**Q, "answer": {"path": "a", "rule": rule}}
    try:
        made(mapping, {"q": "?", "a": sign * (800_000 // len(sign))})
    except ValueError as error:
        assert str(error).endswith(".")

    def searched(text: str) -> None:
        with suppress(ValueError):
            made(mapping, {"q": "?", "a": text})

    assert growth(searched, lambda size: sign * (size // len(sign)), 80_000) < NOT_QUADRATIC


@pytest.mark.parametrize(
    ("answer", "row", "gold"),
    [
        ({"rule": "last_number"}, {"a": "From 3 to 1,234.50 euros."}, "1234.50"),
        ({"rule": "last_number"}, {"a": "5-3 = −2"}, "-2"),
        ({"rule": "last_number"}, {"a": 7}, "7"),
        ({"rule": "after_marker"}, {"a": "Because.\n#### $1,200\nDone"}, "1200"),
        ({"rule": "after_marker", "marker": "Answer:"}, {"a": "Answer: no\nAnswer: yes, I think"}, "yes, I think"),
        ({"rule": "boxed"}, {"a": "\\boxed{1} and \\boxed{\\frac{1}{2}}"}, "\\frac{1}{2}"),
        ({"rule": "choice_index", "choices": ["o"]}, {"a": "2", "o": ["x", "y", "z"]}, "C"),
        ({"rule": "choice_index", "choices": ["o"], "first": 1}, {"a": 2, "o": ["x", "y", "z"]}, "B"),
        ({"rule": "choice_label", "choices": ["o"]}, {"a": "3", "o": {"text": ["x", "y"], "label": ["1", "3"]}}, "B"),
        ({"rule": "choice_label", "choices": ["o"]}, {"a": "(b)", "o": ["A) x", "B) y"]}, "B"),
        ({"rule": "choice_text", "choices": ["o", "p"]}, {"a": "y", "o": "x", "p": "y"}, "B"),
        ({"rule": "choice_text", "choices": ["o"]}, {"a": "B) y", "o": ["A) x", "B) y"]}, "B"),
        ({"rule": "choice_text", "choices": ["o"]}, {"a": "y", "o": ["A) x", "B) y"]}, "B"),
        ({"rule": "choice_text", "choices": ["o"]}, {"a": "(B) y", "o": ["A. x", "B. y"]}, "B"),
        ({"rule": "choice_text", "choices": ["o"]}, {"a": "A) x", "o": ["A) x", "B) x"]}, "A"),
        ({"rule": "choice_text", "choices": ["o"]}, {"a": "B: y", "o": ["x", "y"]}, "B"),
        ({"rule": "choice_text", "choices": ["o"]}, {"a": "B) y", "o": ["A) B) y", "B) y"]}, "B"),
        ({"rule": "choice_text", "choices": ["o", "p"]}, {"a": "B) y", "o": "A) x", "p": "B) y"}, "B"),
        ({"rule": "as_is"}, {"a": False}, "false"),
        ({"rule": "as_is", "optional": True}, {"a": " "}, None),
        ({"rule": "boxed", "optional": True}, {}, None),
    ],
)
def test_answers(answer: dict[str, Any], row: dict[str, Any], gold: str | None) -> None:
    assert made({**Q, "answer": {"path": "a", **answer}}, {"q": "?", **row})["answer"] == gold


@pytest.mark.parametrize(
    ("document", "row", "words"),
    [
        (Q, {"q": "\u200b"}, "The template gives an empty prompt: `q` is empty."),
        (Q, {"Q": 1}, "The row has no column `q`, which the mapping reads."),
        ({**Q, "answer": {"path": "a.b"}}, {"q": "?", "a": [1]}, "The row has no `a.b`: `a` is an array without it."),
        ({**Q, "answer": {"path": "a[2]"}}, {"q": "?", "a": [1]}, "The row has no `a[2]`: `a` has 1 element."),
        ({**Q, "answer": {"path": "a", "rule": "last_number"}}, {"q": "?", "a": "none"}, "`a` has no number in it."),
        (
            {**Q, "answer": {"path": "a", "rule": "choice_index", "choices": ["o"]}},
            {"q": "?", "a": 2, "o": ["x", "y"]},
            "`a` is '2', and the options are numbered from 0 to 1.",
        ),
        (
            {**Q, "answer": {"path": "a", "rule": "choice_text", "choices": ["o"]}},
            {"q": "?", "a": "x", "o": ["x", "x"]},
            "`a` is 'x', a text that several of the options have.",
        ),
        *(
            (
                {**Q, "answer": {"path": "a", "rule": "choice_text", "choices": ["o"]}},
                {"q": "?", "a": answer, "o": options},
                f"`a` is '{answer}', a text that {many} of the options have." if many else "a text that no option has.",
            )
            for answer, options, many in (
                ("A) y", ["A) x", "B) y"], ""),
                ("C) y", ["A) x", "B) y"], ""),
                ("B)", ["A) x", "B) y"], ""),
                ("B", ["x", "y"], ""),
                ("A) y", ["x", "y"], ""),
                ("x", ["A) x", "B) x"], "several"),
            )
        ),
        ({**Q, "json_columns": ["q"]}, {"q": "{"}, "`q` is not JSON"),
        ({**Q, "json_columns": ["q"]}, {"q": '["\\ud800"]'}, "`q` contains NUL characters or lone surrogates"),
        ({**Q, "json_columns": ["q"]}, {"q": "[" * 40 + "]" * 40}, "`q` is nested deeper than 30 levels"),
        ({**Q, "tests": {"path": "t"}}, {"q": "?", "t": {"input": ["1"], "output": []}}, "1 inputs and 0 outputs"),
        (
            {"prompt": {"kind": "chat", "path": "m"}},
            {"m": [{"role": "assistant", "content": "x"}]},
            "there is no prompt",
        ),
        ({"prompt": {"kind": "chat", "path": "m"}}, {"m": [{"role": "narrator", "content": "x"}]}, "not a role"),
    ],
)
def test_refusals(document: dict[str, Any], row: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError) as refused:
        made(document, row)
    assert words in str(refused.value)


def test_a_chat_of_the_file() -> None:
    turns = [{"from": "system", "value": "S"}, {"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Yo"}]
    mapping = {
        "prompt": {"kind": "chat", "path": "c", "role": "from", "content": "value"},
        "answer": {"path": "c[-1].value"},
    }
    assert made(mapping, {"c": turns, "prompt": "old", "id": 3}) == {
        "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "Hi"}],
        "reference": "Yo",
        "answer": "Yo",
        "source_prompt": "old",
        "id": 3,
    }
    assert made({"prompt": {"kind": "chat", "path": "c"}}, {"c": '["Hi", "Yo", "Bye"]'})["messages"][-1] == {
        "role": "user",
        "content": "Bye",
    }


def test_columns_of_the_file_are_kept_beside_those_that_are_made() -> None:
    document = {**Q, "answer": {"path": "gold"}, "tags": {"level": "meta.level"}, "left_out": ["secret"]}
    row = {"q": "?", "gold": "1", "answer": "long", "meta": {"level": 3}, "secret": "x", "prompt": "p"}
    assert made(document, row) == {
        "messages": [{"role": "user", "content": "?"}],
        "answer": "1",
        "level": 3,
        "q": "?",
        "gold": "1",
        "source_answer": "long",
        "meta": {"level": 3},
        "source_prompt": "p",
    }


def test_templates_write_braces_and_lists() -> None:
    row = {"o": ["x", "y"], "n": None, "d": {"k": [1, True]}}
    template = parse_template('{{{o|letters}}} {o|numbers} {n}{m?} {d["k"][0]} {d|json}')
    assert template.fill(row) == '{A. x\nB. y} 1. x\n2. y  1 {"k": [1, true]}'


@pytest.mark.parametrize(
    ("template", "row", "prompt"),
    [
        ("{q}", {"q": 'def f():\n    """Add."""\n'}, 'def f():\n    """Add."""\n'),
        ("{q}", {"q": "    def f(self):\n"}, "    def f(self):\n"),
        ("Q: {q}\nA: ", {"q": "1+1?"}, "Q: 1+1?\nA: "),
        ("\t{q}{more?}\n\n", {"q": "x"}, "\tx\n\n"),
    ],
)
def test_only_chats_lose_white_space_around_them(template: str, row: dict[str, Any], prompt: str) -> None:
    asked = {"kind": "columns", "template": template}
    assert made({"prompt": {**asked, "form": "text"}}, row)["prompt"] == prompt
    assert made({"prompt": asked, "system": " S {q} "}, row)["messages"] == [
        {"role": "system", "content": f"S {row['q']}".strip()},
        {"role": "user", "content": prompt.strip()},
    ]
    with pytest.raises(ValueError, match="gives an empty prompt"):
        made({"prompt": {**asked, "form": "text"}}, {"q": " \n"})


@pytest.mark.parametrize("name", FOREIGN)
def test_proposals(name: str) -> None:
    rows, template, golds = FOREIGN[name]
    proposal = propose(rows)
    assert proposal is not None
    prompt = proposal.mapping.prompt
    assert (prompt.template if prompt.kind == "columns" else prompt.path) == template
    assert [shape_of(proposal.mapping).convert(row).get("answer") for row in rows] == golds


@pytest.mark.parametrize("name", NOT_FOR_PROMPTS)
def test_nothing_is_proposed_for_what_is_no_prompt(name: str) -> None:
    assert propose([NOT_FOR_PROMPTS[name]]) is None

"""Shapes of rows that hold completions: what becomes of them, what is refused, and which rows they leave to others."""

import copy
from typing import Any

import pytest

from trainer_core.datasets import recognise

Row = dict[str, Any]


def user(text: str) -> Row:
    return {"role": "user", "content": text}


def said(text: Any, **more: Any) -> Row:
    return {"role": "assistant", "content": text, **more}


HI = [user("Hi")]
TALK = [{"role": "system", "content": "Be brief."}, user("Hi"), said("Ho"), user("And?")]
FEEDBACK = {
    "prompt": "Hi",
    "prompt_id": "x",
    "chosen": [*HI, said("Ho")],
    "rejected": [*HI, said("No")],
    "messages": [*HI, said("Ho")],
    "score_chosen": 8.0,
}
"""UltraFeedback, binarized."""

MAPPED: list[tuple[str, Row, Row]] = [
    ("answered", {"messages": [*TALK, said("So.")]}, {"messages": TALK, "completion": "So."}),
    (
        "answered",
        {"messages": [*HI, said("Ho")], "completion": "x", "answer": 2, "tools": []},
        {"messages": HI, "completion": "Ho", "source_completion": "x", "answer": 2, "tools": []},
    ),
    (
        "answered",
        {"messages": [*HI, said("Ho", reasoning_content="Why?", name=None)]},
        {
            "messages": HI,
            "completion": "Ho",
            "source_completion": said("Ho", reasoning_content="Why?", name=None),
        },
    ),
    (
        "answered",
        {
            "messages": [
                {"role": "developer", "content": "Be brief."},
                *HI,
                said([{"type": "text", "text": "H"}, {"type": "text", "text": "o"}]),
            ]
        },
        {"messages": [{"role": "system", "content": "Be brief."}, *HI], "completion": "Ho"},
    ),
    (
        "prompt_completion",
        {"prompt": TALK, "completion": [said("So.")], "n": 1},
        {"messages": TALK, "completion": "So.", "n": 1},
    ),
    ("prompt_completion", {"prompt": "Hi", "completion": [said("Ho")]}, {"messages": HI, "completion": "Ho"}),
    (
        "prompt_completion",
        {"prompt": HI, "completion": [said("Ho"), user("And?"), said("So.")]},
        {"messages": [*HI, said("Ho"), user("And?")], "completion": "So."},
    ),
    ("conversational", {"prompt": HI, "completion": "Ho"}, {"messages": HI, "completion": "Ho"}),
    ("own", {"prompt": "Hi", "completion": "Ho"}, {"prompt": "Hi", "completion": "Ho"}),
    (
        "preference",
        {"prompt": TALK, "chosen": [said("Ho")], "rejected": [said("No")]},
        {"messages": TALK, "chosen": "Ho", "rejected": "No"},
    ),
    (
        "preference",
        {"prompt": HI, "chosen": [*HI, said("Ho")], "rejected": [*HI, said("No")]},
        {"messages": HI, "chosen": "Ho", "rejected": "No"},
    ),
    (
        "preference",
        {"prompt": "Hi", "chosen": [said("Ho")], "rejected": [said("No")]},
        {"messages": HI, "chosen": "Ho", "rejected": "No"},
    ),
    (
        "preference",
        {"messages": TALK, "chosen": [said("Ho")], "rejected": [said("No")]},
        {"messages": TALK, "chosen": "Ho", "rejected": "No"},
    ),
    (
        "preference",
        {"chosen": [*TALK, said("Ho")], "rejected": [*TALK, said("No", thinking="?")], "margin": 1},
        {
            "messages": TALK,
            "chosen": "Ho",
            "rejected": "No",
            "source_rejected": said("No", thinking="?"),
            "margin": 1,
        },
    ),
    (
        "preference",
        FEEDBACK,
        {
            "messages": HI,
            "chosen": "Ho",
            "rejected": "No",
            "source_prompt": "Hi",
            "reference": "Ho",
            "prompt_id": "x",
            "score_chosen": 8.0,
        },
    ),
    (
        "conversational",
        {"prompt": HI, "chosen": "a", "rejected": "b"},
        {"messages": HI, "chosen": "a", "rejected": "b"},
    ),
    ("own", {"prompt": "Hi", "chosen": "a", "rejected": "b"}, {"prompt": "Hi", "chosen": "a", "rejected": "b"}),
    (
        "alpaca",
        {"instruction": "Add.", "input": "1, 2", "output": "3", "completion": "4"},
        {
            "messages": [user("Add.\n\n1, 2")],
            "completion": "3",
            "instruction": "Add.",
            "input": "1, 2",
            "output": "3",
            "source_completion": "4",
        },
    ),
    (
        "alpaca",
        {"instruction": "Add.", "input": "", "output": "", "system": "", "text": "x"},
        {
            "messages": [user("Add.")],
            "completion": "",
            "instruction": "Add.",
            "input": "",
            "output": "",
            "system": "",
            "text": "x",
        },
    ),
    ("plain_text", {"text": "Once.", "url": "u"}, {"prompt": "Once.", "url": "u"}),
]


@pytest.mark.parametrize(("name", "row", "mapped"), MAPPED, ids=lambda value: value if isinstance(value, str) else "")
def test_mapped_rows(name: str, row: Row, mapped: Row) -> None:
    before = copy.deepcopy(row)
    shape = recognise(row)
    assert (shape.name, shape.convert(row), row) == (name, mapped, before)
    if name not in ("own", "conversational"):
        made = {one.column for one in shape.mapping}
        assert {column for column in mapped if column not in row} <= made
    # What is stored stays as it is when it is uploaded once more.
    assert (recognise(mapped).name, recognise(mapped).convert(mapped)) == ("own", mapped)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("own", {"messages": HI, "completion": "Ho"}),
        ("own", {"messages": HI, "chosen": "[{", "rejected": "b"}),
        ("roll", {"messages": [*HI, said("Ho")], "ground_truth": "2"}),
        ("openai_rft", {"messages": [*HI, said("Ho")], "reference_answer": "2"}),
        ("ultrachat", {"prompt": "Hi", "messages": [*HI, said("Ho")]}),
        ("conversational", {"prompt": [*HI, said("Ho")]}),
        ("gsm8k", {"question": "1+1?", "answer": "#### 2", "text": "x"}),
        ("math", {"problem": "1+1?", "answer": "2", "instruction": "a", "input": "b", "output": "c"}),
    ],
)
def test_shapes_with_an_answer_to_grade_come_first(name: str, row: Row) -> None:
    assert recognise(row).name == name


@pytest.mark.parametrize(
    "row",
    [
        {"text": "A fine film.", "label": 1},
        {"text": 3},
        {"instruction": "Add.", "input": "", "output": 3},
        {"instruction": "Add.", "input": "", "output": "3", "history": [["a", "b"]]},
        {"question": "?", "chosen": "a", "rejected": "b"},
    ],
)
def test_rows_that_need_a_mapping(row: Row) -> None:
    with pytest.raises(ValueError, match="A row needs either"):
        recognise(row)


ANSWERED = {"messages": [*HI, said("Ho")]}
PAIR = {"chosen": [*HI, said("Ho")], "rejected": [*HI, said("No")]}
GIVEN = {"prompt": HI, "completion": [said("Ho")]}
ALPACA = {"instruction": "Add.", "input": "", "output": "3"}


@pytest.mark.parametrize(
    ("good", "bad", "detail"),
    [
        (
            ANSWERED,
            {"messages": HI},
            "`messages` must end with a message of the role assistant, as in the rows before it.",
        ),
        (
            ANSWERED,
            {"messages": [said("Ho")]},
            "`messages` has only a message of the model: there is nothing to answer.",
        ),
        (ANSWERED, {"messages": []}, "`messages` must be a list of at least one message."),
        (ANSWERED, {"prompt": "x"}, "`messages` must be a list of at least one message."),
        (ANSWERED, {"messages": [*HI, "Ho"]}, "must end with a message of the role assistant"),
        (
            ANSWERED,
            {"messages": [*HI, said("a"), said("b")]},
            "The last two messages of `messages` are both the assistant's: join them.",
        ),
        (ANSWERED, {"messages": [*HI, said(None)]}, "The last message of `messages` must have a text, not null."),
        (ANSWERED, {"messages": [*HI, said(None, tool_calls=[{}])]}, "holds tool calls instead of text."),
        (
            GIVEN,
            {"prompt": HI, "completion": "Ho"},
            "`completion` must be a list of messages, as in the rows before it.",
        ),
        (GIVEN, {"prompt": " ", "completion": [said("Ho")]}, "`prompt` is empty."),
        (GIVEN, {"prompt": [*HI, said("a")], "completion": [said("b")]}, "of `completion` are both the assistant's"),
        (
            PAIR,
            PAIR | {"rejected": [user("Ha"), said("No")]},
            "`chosen` and `rejected` differ before their last message: they must answer the same chat.",
        ),
        (PAIR, PAIR | {"rejected": HI}, "`rejected` must end with a message of the role assistant"),
        (PAIR, PAIR | {"prompt": [user("Ha")]}, "`prompt` is not the beginning of `chosen` and `rejected`."),
        (
            PAIR,
            {"chosen": [said("a")], "rejected": [said("b")]},
            "`chosen` and `rejected` have nothing in common: there is no prompt.",
        ),
        (PAIR, {"chosen": "a", "rejected": "b"}, "The columns `chosen`, `rejected` are texts without a `prompt`"),
        (ALPACA, ALPACA | {"output": None}, "`output` must be a string, not null."),
        (ALPACA, ALPACA | {"input": 3}, "`input` must be a string, not number."),
        (ALPACA, ALPACA | {"instruction": " "}, "`instruction` is empty."),
        ({"text": "a"}, {"text": " "}, "`text` is empty."),
        ({"text": "a"}, {"url": "a"}, "The row has no `text`, as the rows before it have."),
    ],
)
def test_wrong_rows(good: Row, bad: Row, detail: str) -> None:
    """After a good row has said of which shape the file is."""
    with pytest.raises(ValueError) as caught:
        recognise(good).convert(bad)
    assert detail in str(caught.value)


def test_texts_of_a_pair_without_a_prompt_are_refused() -> None:
    """HH-RLHF's form: where the prompt ends is written in words only."""
    row = {"chosen": "\n\nHuman: Hi\n\nAssistant: Ho", "rejected": "\n\nHuman: Hi\n\nAssistant: No"}
    with pytest.raises(ValueError, match="put what both have in common into `prompt`, or write both as chats"):
        recognise(row).convert(row)

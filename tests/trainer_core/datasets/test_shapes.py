"""Shapes of well-known datasets: what is recognised, what becomes of each row, and what is refused."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from trainer_core.datasets import SHAPES, UnknownShapeError, control_tokens, recognise
from trainer_core.rewards.graders import Grader, grade
from trainer_core.rewards.sample import Sample

DATA = Path(__file__).parents[2] / "data"
CHAT = [{"role": "user", "content": "1+1="}]
BOXED = "Please reason step by step, and put your final answer within \\boxed{}."


def rows(name: str) -> list[dict[str, Any]]:
    """Rows of a file of tests/data."""
    text = (DATA / name).read_text()
    found: list[dict[str, Any]] = json.loads(text) if name.endswith(".json") else [*map(json.loads, text.splitlines())]
    return found


@pytest.mark.parametrize(
    ("name", "shape", "made"),
    [
        ("references/gsm8k/test.jsonl", "gsm8k", ["messages", "answer", "solution"]),
        ("references/math500/test.jsonl", "math", ["messages", "answer"]),
        ("references/humaneval/HumanEval.jsonl", "humaneval", ["prompt", "tests"]),
        ("references/mbpp/sanitized-mbpp.json", "mbpp", ["messages", "tests", "setup", "entry_point", "task"]),
        ("shapes/ifeval.jsonl", "ifeval", ["messages", "kwargs"]),
        ("shapes/deepmath-roll.jsonl", "roll", ["messages", "answer"]),
    ],
)
def test_real_files(name: str, shape: str, made: list[str]) -> None:
    for row in rows(name):
        before = copy.deepcopy(row)
        found = recognise(row)
        mapped = found.convert(row)
        assert (found.name, row) == (shape, before), "the row given stays as it is"
        assert list(mapped)[: len(made)] == made
        kept = {name: value for name, value in row.items() if name not in (*made, "prompt")}
        assert kept.items() <= mapped.items(), "all other columns are kept"
        assert ("prompt" in mapped) is not ("messages" in mapped)


def test_gsm8k_to_the_letter() -> None:
    first = rows("references/gsm8k/test.jsonl")[0]
    assert recognise(first).convert(first) == {
        "messages": [{"role": "user", "content": first["question"]}],
        "answer": first["answer"].rpartition("#### ")[2],
        "solution": first["answer"],
        "question": first["question"],
    }


@pytest.mark.parametrize(
    ("behind", "gold"),
    [
        (" 72", "72"),
        ("1,234,567", "1234567"),
        (" -5,600 ", "-5600"),
        ("$1,000.50", "1000.50"),
        (".5", ".5"),
        (" 3/4", "3/4"),
        (" (1, 2)", "(1, 2)"),
        (" 1,2", "1,2"),
        ("12,34", "12,34"),
        ("1,2345", "1,2345"),
        ("0,123", "0,123"),
        ("1,23,456", "1,23,456"),
        ("$1,2", "$1,2"),
        ("-1,234.5", "-1234.5"),
        ("5 #### 6", "6"),
        (" 1,2", "1,2"),
        (" 1,23", "1,23"),
        (" 0,123", "0,123"),
        (" 12,34,567", "12,34,567"),
        (" $1,234,567.50", "1234567.50"),
    ],
)
def test_gold_answers_of_gsm8k(behind: str, gold: str) -> None:
    row = {"question": "How many?", "answer": f"Because.\n####{behind}"}
    assert recognise(row).convert(row)["answer"] == gold


MAPPED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("own", {"prompt": "1+1=", "answer": "2"}, {"prompt": "1+1=", "answer": "2"}),
    ("own", {"messages": CHAT, "answer": 2}, {"messages": CHAT, "answer": 2}),
    ("conversational", {"prompt": CHAT, "solution": "2"}, {"messages": CHAT, "solution": "2"}),
    (
        "math",
        {"problem": "1+1=", "solution": "It is \\boxed{\\frac{4}{2}}.", "level": "Level 1"},
        {
            "messages": CHAT,
            "answer": "\\frac{4}{2}",
            "problem": "1+1=",
            "solution": "It is \\boxed{\\frac{4}{2}}.",
            "level": "Level 1",
        },
    ),
    (
        "math",
        {"id": 60, "problem": "1+1=", "question": "1+1=", "solution": "…", "answer": "025"},
        {"messages": CHAT, "answer": "025", "id": 60, "problem": "1+1=", "question": "1+1=", "solution": "…"},
    ),
    (
        "question_answer",
        {"id": "0", "question": "1+1=", "ground_truth": 70},
        {"messages": CHAT, "answer": "70", "id": "0", "question": "1+1=", "ground_truth": 70},
    ),
    (
        "question_answer",
        {"question": "1+1=", "answer": "116", "url": "u"},
        {"messages": CHAT, "answer": "116", "question": "1+1=", "url": "u"},
    ),
    (
        "verl",
        {"data_source": "math_dapo", "prompt": CHAT, "reward_model": {"ground_truth": "34", "style": "rule"}},
        {
            "messages": CHAT,
            "answer": "34",
            "data_source": "math_dapo",
            "reward_model": {"ground_truth": "34", "style": "rule"},
        },
    ),
    (
        "verl",
        {"prompt": json.dumps(CHAT), "reward_model": {"ground_truth": {"a": [1]}}},
        {"messages": CHAT, "answer": '{"a": [1]}', "reward_model": {"ground_truth": {"a": [1]}}},
    ),
    ("roll", {"prompt": "1+1=", "ground_truth": 2}, {"prompt": "1+1=", "answer": "2", "ground_truth": 2}),
    ("roll", {"prompt": CHAT, "ground_truth": "2"}, {"messages": CHAT, "answer": "2", "ground_truth": "2"}),
    ("roll", {"messages": json.dumps(CHAT)}, {"messages": CHAT, "answer": None}),
    (
        "roll",  # a file whose prompt is only the system's message
        {"prompt": "You are a chatbot.", "messages": json.dumps(CHAT), "ground_truth": "Western blot"},
        {
            "messages": CHAT,
            "answer": "Western blot",
            "ground_truth": "Western blot",
            "source_prompt": "You are a chatbot.",
        },
    ),
    (
        "verifiers",
        {"question": "1+1=", "answer": "", "info": '{"level": 3}', "task": "sums"},
        {"messages": CHAT, "answer": None, "info": {"level": 3}, "question": "1+1=", "task": "sums"},
    ),
    (
        "verifiers",
        {"question": "1+1=", "info": {}},
        {"messages": CHAT, "info": {}, "question": "1+1="},
    ),
    (
        "openai_rft",
        {
            "messages": [
                {"role": "developer", "content": "Be brief."},
                {"role": "user", "content": [{"type": "text", "text": "1+"}, {"type": "text", "text": "1="}]},
            ],
            "reference_answer": 2,
        },
        {
            "messages": [{"role": "system", "content": "Be brief."}, *CHAT],
            "answer": 2,
            "reference_answer": 2,
        },
    ),
    (
        "openai_rft",
        {"messages": CHAT, "reference_answer": {"total": 2}},
        {"messages": CHAT, "reference_answer": {"total": 2}},
    ),
    (
        "mbpp",
        {"text": "Add.", "code": "def sum(a): ...", "test_setup_code": "x = 1", "test_list": ["assert sum([1]) == 1"]},
        {
            "messages": [
                {"role": "user", "content": "Add.\n\nYour code should pass these tests:\n\nassert sum([1]) == 1"}
            ],
            "tests": ["assert sum([1]) == 1"],
            "setup": "x = 1",
            "entry_point": "sum",
            "task": "Add.",
            "text": "Add.",
            "code": "def sum(a): ...",
            "test_setup_code": "x = 1",
            "test_list": ["assert sum([1]) == 1"],
        },
    ),
    (
        "ifeval",
        {"prompt": "Shout.", "instruction_id_list": ["change_case:english_capital"], "kwargs": [{"num_words": None}]},
        {
            "messages": [{"role": "user", "content": "Shout."}],
            "kwargs": [{}],
            "instruction_id_list": ["change_case:english_capital"],
        },
    ),
    (
        "roll",
        {"messages": CHAT, "ground_truth": ["18", 18]},
        {"messages": CHAT, "answer": ["18", "18"], "ground_truth": ["18", 18]},
    ),
    (
        "open_instruct",
        {"messages": CHAT, "ground_truth": ["2"], "dataset": ["gsm8k"]},
        {"messages": CHAT, "answer": "2", "ground_truth": ["2"], "dataset": ["gsm8k"]},
    ),
    (
        "open_instruct",
        {"prompt": "1+1=", "ground_truth": 2, "dataset": "gsm8k"},
        {"prompt": "1+1=", "answer": "2", "ground_truth": 2, "dataset": "gsm8k"},
    ),
    (
        "ultrachat",
        {"prompt": "1+1=", "messages": [*CHAT, {"role": "assistant", "content": "2"}], "reference": "x"},
        {"messages": CHAT, "reference": "2", "source_prompt": "1+1=", "source_reference": "x"},
    ),
    (
        "verl",
        {"prompt": CHAT, "reward_model": {"ground_truth": ["2", "two"]}},
        {"messages": CHAT, "answer": ["2", "two"], "reward_model": {"ground_truth": ["2", "two"]}},
    ),
    (
        "math",
        {"problem": "1+1=", "answer": ["2", "two"]},
        {"messages": CHAT, "answer": ["2", "two"], "problem": "1+1="},
    ),
    (
        "openai_rft",
        {"messages": CHAT, "reference_answer": ["2", "two"]},
        {"messages": CHAT, "answer": ["2", "two"], "reference_answer": ["2", "two"]},
    ),
]


MBPP = next(row for name, row, _ in MAPPED if name == "mbpp")


@pytest.mark.parametrize(
    "row",
    [
        {"prompt": "1+1=", "answer": "18", "ground_truth": "#### 18"},
        {"prompt": "1+1=", "ground_truth": {"tests": ["assert f() == 1"]}},
        {"prompt": "1+1=", "ground_truth": None},
        {"prompt": "1+1=", "ground_truth": " "},
        {"messages": CHAT, "answer": "18", "ground_truth": "#### 18"},
        {"messages": CHAT, "ground_truth": {"x": "18"}},
        {"messages": CHAT, "ground_truth": []},
        {"messages": CHAT, "ground_truth": [["18"]]},
        {"prompt": json.dumps(CHAT), "answer": "18", "ground_truth": "#### 18"},
        {"prompt": json.dumps(CHAT), "answer": "18", "reward_model": {"ground_truth": "#### 18"}},
        {"prompt": json.dumps(CHAT), "reward_model": "a name"},
        {"prompt": "Add.", "code": "int main() {}", "test_list": ["assert 1"]},
        {"prompt": "Add.", "code": "x = 1", "test_list": []},
        {"prompt": "Add.", "code": "x = 1", "test_list": ["assert 1"], "answer": "x"},
        {"prompt": "Add.", "code": "x = 1", "test_list": ["assert 1"], "tests": ["assert 2"]},
        {"messages": CHAT, "text": "Add.", "code": "x = 1", "test_list": ["assert 1"]},
        {"prompt": "Add.", "test": "assert 1", "entry_point": "f", "tests": ["assert 2"]},
        {"prompt": "Add.", "test": ["assert 1"], "entry_point": "a.b"},
        {"prompt": "Add.", "instruction_id_list": "none", "kwargs": {}},
    ],
    ids=str,
)
def test_rows_that_can_be_stored_as_they_come_are(row: dict[str, Any]) -> None:
    assert (recognise(row).name, recognise(row).convert(row)) == ("own", row)


def test_such_rows_stay_in_a_file_of_another_shape_too() -> None:
    first: dict[str, Any] = {"prompt": "1+1=", "ground_truth": "2"}
    for changed in ({"ground_truth": {"tests": []}}, {"answer": "3"}):
        assert recognise(first).convert(first | changed) == first | changed
    old = {"prompt": "Add.", "code": "print 1", "test_list": ["assert 1"]}
    mapped = recognise(old | {"code": "x = 1"}).convert(old)
    assert (mapped["task"], mapped["tests"], mapped["entry_point"]) == ("Add.", ["assert 1"], "")


@pytest.mark.parametrize(
    ("name", "row", "column"),
    [
        ("roll", {"messages": json.dumps(CHAT), "ground_truth": "2", "answer": "So 2."}, "answer"),
        ("roll", {"prompt": "p", "messages": CHAT, "ground_truth": "2", "answer": "So 2."}, "answer"),
        ("verl", {"prompt": CHAT, "reward_model": {"ground_truth": "2"}, "answer": "So 2."}, "answer"),
        ("mbpp", MBPP | {"tests": "all"}, "tests"),
    ],
)
def test_no_column_is_lost_to_one_that_is_made(name: str, row: dict[str, Any], column: str) -> None:
    shape = recognise(row)
    mapped = shape.convert(row)
    assert (shape.name, mapped[f"source_{column}"]) == (name, row[column])
    assert mapped[column] != row[column]
    assert f"source_{column}" in {made.column for made in shape.mapping}


@pytest.mark.parametrize(("name", "row", "mapped"), MAPPED, ids=lambda value: value if isinstance(value, str) else "")
def test_mapped_rows(name: str, row: dict[str, Any], mapped: dict[str, Any]) -> None:
    assert (recognise(row).name, recognise(row).convert(row)) == (name, mapped)


def like(name: str, **changed: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The first example of a shape, and the same with other columns; None takes one away."""
    good = next(row for shape, row, _ in MAPPED if shape == name)
    return good, {column: value for column, value in (good | changed).items() if value is not None}


GSM8K = {"question": "How many?", "answer": "One.\n#### 1"}


@pytest.mark.parametrize(
    ("good", "bad", "detail"),
    [
        (GSM8K, GSM8K | {"answer": "One."}, "`answer` has no `####` followed by the final answer."),
        (GSM8K, GSM8K | {"answer": "One. ####\n"}, "There is nothing after the `####` of `answer`."),
        (
            GSM8K,
            GSM8K | {"answer": "#### 1\nSee?"},
            "`answer` must end with the final answer: there are more lines after its `####`.",
        ),
        (GSM8K, GSM8K | {"answer": 1}, "`answer` must be a string, not number."),
        (GSM8K, GSM8K | {"question": " "}, "`question` is empty."),
        (GSM8K, GSM8K | {"question": ["?"]}, "`question` must be a string, not array."),
        (GSM8K, {"answer": "#### 1"}, "The row has no `question`, as the rows before it have."),
        (GSM8K, {"prompt": "1+1="}, "The row has no `question`, as the rows before it have."),
        (
            *like("math", solution="It is two."),
            "The row has no `answer`, and its `solution` has no \\boxed{} with it.",
        ),
        (
            *like("math", solution="It is \\boxed{}."),
            "The row has no `answer`, and its `solution` has no \\boxed{} with it.",
        ),
        (*like("math", answer=True), "`answer` must be a string or a number, not boolean."),
        (*like("question_answer", ground_truth=" "), "`ground_truth` is empty."),
        (*like("question_answer", ground_truth=[[1]]), "`ground_truth[0]` must be a string or a number, not array."),
        (*like("question_answer", ground_truth=[]), "`ground_truth` is a list without an answer."),
        (*like("question_answer", ground_truth=["1", " "]), "`ground_truth[1]` is empty."),
        (*like("verl", reward_model="34"), "`reward_model` must be an object with `ground_truth`."),
        (*like("verl", reward_model={}), "The row has no `ground_truth`, as the rows before it have."),
        (
            *like("verl", prompt="1+1="),
            "`prompt` must be a chat, and is text: it is not JSON: Extra data at character 2.",
        ),
        (*like("verl", prompt={"role": "user"}), "`prompt` must be a list of messages, not object."),
        (*like("roll", prompt=" "), "`prompt` is empty."),
        (
            *like("roll", messages="[{"),
            "`messages` must be a chat, and is text: it is not JSON: Expecting property name enclosed in double "
            "quotes at character 3.",
        ),
        (*like("roll", messages='"hi"'), "`messages` must be a list of messages, not string."),
        (
            *like("verifiers", info="{"),
            "`info` is text that is not JSON: Expecting property name enclosed in double quotes at character 2.",
        ),
        (*like("verifiers", info=[1]), "`info` must be an object, or an object as JSON text."),
        (*like("verifiers", answer=[{"x": "2"}]), "`answer[0]` must be a string or a number, not object."),
        (
            *like("openai_rft", messages=[{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]),
            "A message may contain only text parts; images, sound and files are not accepted.",
        ),
        (*like("mbpp", test_list=[]), "`test_list` must be a list of at least one string."),
        (*like("mbpp", test_list="assert 1"), "`test_list` must be a list of at least one string."),
        (*like("mbpp", test_setup_code=7), "`test_imports` must be a list of strings, and `test_setup_code` a string."),
        (*like("mbpp", code=None), "The row has no `code`, as the rows before it have."),
        (*like("mbpp", code="def f(:"), "`code` is not a Python program: invalid syntax (<unknown>, line 1)."),
        (*like("mbpp", code="x" * 200_001), "`code` has more than 200,000 characters."),
        (*like("ifeval", kwargs=[]), "`kwargs` must list one object for each of the 1 instructions."),
        (*like("ifeval", kwargs=["x"]), "`kwargs` must list objects."),
        (*like("ifeval", instruction_id_list=[1]), "`instruction_id_list` must be a list of at least one string."),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_rows(good: dict[str, Any], bad: dict[str, Any], detail: str) -> None:
    """After a good row has said of which shape the file is."""
    with pytest.raises(ValueError) as caught:
        recognise(good).convert(bad)
    assert str(caught.value) == detail


def test_a_humaneval_row_needs_the_name_of_a_function() -> None:
    row = rows("references/humaneval/HumanEval.jsonl")[0]
    with pytest.raises(ValueError, match=r"^`entry_point` must be the name of a function\.$"):
        recognise(row).convert(row | {"entry_point": "f); import os  #"})


@pytest.mark.parametrize("row", [{}, {"query": "?", "checklist": []}, {"question": "?"}, {"text": "once", "label": 1}])
def test_unknown_shapes(row: dict[str, Any]) -> None:
    with pytest.raises(UnknownShapeError) as caught:
        recognise(row)
    text = str(caught.value)
    found = f"It has the columns {', '.join(f'`{name}`' for name in row)}." if row else "It has no columns."
    assert text.startswith("A row needs either `prompt` or `messages`, or the columns of a known shape.")
    assert found in text
    assert all(shape.title in text for shape in SHAPES if shape.mapping)


def test_an_unknown_row_of_many_columns_names_twenty() -> None:
    with pytest.raises(UnknownShapeError, match="`c18`, `c19` and 5 more"):
        recognise({f"c{number}": 1 for number in range(25)})


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape.grader], ids=lambda shape: shape.name)
def test_the_graders_are_graders(shape: Any) -> None:
    TypeAdapter(Grader).validate_python(shape.grader)
    assert shape.system in (None, BOXED)


def test_golds_are_graded_at_once() -> None:
    """GSM8K's gold is graded as it was mapped, with the answer where each extraction looks for it."""
    row = rows("references/gsm8k/test.jsonl")[0]
    mapped = recognise(row).convert(row)
    for document, right, wrong in (
        ({"type": "math"}, f"So {mapped['answer']}.", "So it is, as \\boxed{0} shows."),
        ({"type": "math", "extraction": "boxed"}, f"So \\boxed{{{mapped['answer']}}}.", f"So {mapped['answer']}."),
        ({"type": "math", "extraction": "last_number"}, f"So {mapped['answer']} dollars.", "So 0."),
        ({"type": "numeric"}, f"So {mapped['answer']}.00 dollars.", "So."),
    ):
        grader = TypeAdapter(Grader).validate_python(document)
        assert [grade(grader, Sample(text, None, text, None), mapped) for text in (right, wrong)] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<|im_start|>user <|im_end|> <|im_start|>", ["<|im_start|>", "<|im_end|>"]),
        ("<think>a</think>", ["<think>", "</think>"]),
        ("</s>[INST] [/INST]", ["</s>", "[INST]", "[/INST]"]),
        ("<｜begin▁of▁sentence｜>", ["<｜begin▁of▁sentence｜>"]),
        ("a <b> |x| [1] <sum> a<|b <||> a < b | c >", []),
        ("<<48/2=24>>24", []),
    ],
)
def test_control_tokens(text: str, found: list[str]) -> None:
    assert control_tokens(text) == found


@pytest.mark.parametrize(("shape", "row", "made"), MAPPED)
def test_stored_rows_are_not_converted_again(shape: str, row: dict[str, Any], made: dict[str, Any]) -> None:
    """A download that is uploaded again has the same rows."""
    assert recognise(made).convert(made) == made


def test_knights_and_knaves_keep_their_chat_when_they_come_again() -> None:
    row = {
        "quiz": "Who?",
        "solution_text_format": "A is a knight",
        "prompt": "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWho is it?<|im_end|>\n",
    }
    made = recognise(row).convert(row)
    assert [one["role"] for one in made["messages"]] == ["system", "user"]
    assert recognise(made).convert(made) == made

"""Files as people have them, made by a program: each with its right reading, or the words of its refusal.

contents × formats × packings, and tables × delimiters × line ends × marks
"""

import csv
import gzip
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PeoplesFile:
    """A file and its right reading."""

    group: str
    what: str
    content: bytes
    name: str = "rows"
    rows: list[Row] = field(default_factory=list)
    """The rows as they are stored; empty if the file is refused."""
    refused: str = ""
    """Words of the refusal, if it is refused."""
    warnings: tuple[str, ...] = ()


def peoples_files() -> list[PeoplesFile]:
    """Documents, tables and texts; ``odd_values`` has more."""
    return [*_documents(), *_headers(), *_tables(), *_texts()]


def asked(question: str) -> list[Row]:
    """A chat with one question."""
    return [{"role": "user", "content": question}]


def _said(answer: str) -> Row:
    return {"role": "assistant", "content": answer}


def gzipped(content: bytes) -> bytes:
    """The same bytes at any time."""
    return gzip.compress(content, mtime=0)


def zstandard(content: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(content, asbytes=True))


def lines(rows: list[Row], *, ascii_only: bool = False) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in rows).encode()


def parquet(rows: list[Row]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), file)
    return file.getvalue()


def table(rows: list[list[str]], delimiter: str = ",", line_end: str = "\n") -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator=line_end).writerows(rows)
    return file.getvalue()


TOOL = {"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": {"type": "object"}}}
CONTENTS: dict[str, tuple[list[Row], list[Row], tuple[str, ...]]] = {
    "own rows": (
        [{"prompt": "1+1=", "answer": "2"}, {"prompt": "Größe, größer?", "answer": "größte"}],
        [{"prompt": "1+1=", "answer": "2"}, {"prompt": "Größe, größer?", "answer": "größte"}],
        (),
    ),
    "GSM8K": (
        [
            {"question": "How many?", "answer": "One and one.\n#### 1,234"},
            {"question": "Which pair?", "answer": "They are\n#### 1,2"},
            {"question": "How much?", "answer": "All.\n#### $5"},
        ],
        [
            {"messages": asked("How many?"), "answer": "1234", "solution": "One and one.\n#### 1,234",
             "question": "How many?"},
            {"messages": asked("Which pair?"), "answer": "1,2", "solution": "They are\n#### 1,2",
             "question": "Which pair?"},
            {"messages": asked("How much?"), "answer": "5", "solution": "All.\n#### $5", "question": "How much?"},
        ],
        (),
    ),
    "verl with several answers": (
        [
            {"prompt": asked("1+1="), "reward_model": {"style": "rule", "ground_truth": ["2", "two"]}},
            {"prompt": asked("2+2="), "reward_model": {"style": "rule", "ground_truth": ["4"]}},
        ],
        [
            {"messages": asked("1+1="), "answer": ["2", "two"],
             "reward_model": {"style": "rule", "ground_truth": ["2", "two"]}},
            {"messages": asked("2+2="), "answer": ["4"], "reward_model": {"style": "rule", "ground_truth": ["4"]}},
        ],
        (),
    ),
    "open-instruct": (
        [
            {"messages": asked("1+1="), "ground_truth": ["2"], "dataset": ["gsm8k"]},
            {"messages": asked("Say it twice."), "ground_truth": ["a", "b"], "dataset": ["ifeval", "math"]},
        ],
        [
            {"messages": asked("1+1="), "answer": "2", "ground_truth": ["2"], "dataset": ["gsm8k"]},
            {"messages": asked("Say it twice."), "answer": ["a", "b"], "ground_truth": ["a", "b"],
             "dataset": ["ifeval", "math"]},
        ],
        (),
    ),
    "open-instruct, as texts": (
        [{"messages": asked("1+1="), "ground_truth": "2", "dataset": "gsm8k"}],
        [{"messages": asked("1+1="), "answer": "2", "ground_truth": "2", "dataset": "gsm8k"}],
        (),
    ),
    "UltraChat": (
        [{"prompt": "Hi", "prompt_id": "a1", "messages": [*asked("Hi"), {"role": "assistant", "content": "Hello!"}]}],
        [{"messages": asked("Hi"), "reference": "Hello!", "source_prompt": "Hi", "prompt_id": "a1"}],
        (),
    ),
    "a prompt beside a chat that the user ends": (
        [{"prompt": "Hi", "messages": asked("Hi")}],
        [{"messages": asked("Hi"), "reference": None, "source_prompt": "Hi"}],
        (),
    ),
    "tools": (
        [{"messages": asked("1+1?"), "tools": [TOOL]}],
        [{"messages": asked("1+1?"), "tools": [TOOL]}],
        (),
    ),
    "tools as text": (
        [{"messages": asked("1+1?"), "tools": json.dumps([TOOL])}],
        [{"messages": asked("1+1?"), "tools": json.dumps([TOOL])}],
        (),
    ),
    "pictures": (
        [{"prompt": "<image> How many?", "images": ["a.png"], "answer": "2"}],
        [{"prompt": "<image> How many?", "images": ["a.png"], "answer": "2"}],
        ("pictures",),
    ),
    "several accepted answers": (
        [{"question": "Which river?", "answer": ["Nile", "The Nile"]}],
        [{"messages": asked("Which river?"), "answer": ["Nile", "The Nile"], "question": "Which river?"}],
        (),
    ),
    "two answers to one question": (
        [{"prompt": "1+1=", "answer": "2"}, {"prompt": "1+1=", "answer": "3"}],
        [{"prompt": "1+1=", "answer": "2"}, {"prompt": "1+1=", "answer": "3"}],
        ("other_answers",),
    ),
    "formulas": (
        [{"prompt": text} for text in ("=1+1", "+1", "-1", "@SUM(A1)", "'quoted", "\t=1", "＝1", "plain")],
        [{"prompt": text} for text in ("=1+1", "+1", "-1", "@SUM(A1)", "'quoted", "\t=1", "＝1", "plain")],
        (),
    ),
    "MATH": (
        [
            {"problem": "1+1?", "level": "Level 1", "type": "Algebra", "solution": "So $\\boxed{2}$."},
            {"problem": "x?", "level": "Level 5", "type": "Algebra", "solution": "\\boxed{0} or \\boxed{\\frac{1}{2}}"},
        ],
        [
            {"messages": asked("1+1?"), "answer": "2", "problem": "1+1?", "level": "Level 1", "type": "Algebra",
             "solution": "So $\\boxed{2}$."},
            {"messages": asked("x?"), "answer": "\\frac{1}{2}", "problem": "x?", "level": "Level 5", "type": "Algebra",
             "solution": "\\boxed{0} or \\boxed{\\frac{1}{2}}"},
        ],
        (),
    ),
    "AIME": (
        [{"id": 60, "problem": "Find n.", "solution": "So 073.", "answer": "073", "url": "https://example.org/a?b=1,2"}],
        [{"messages": asked("Find n."), "answer": "073", "id": 60, "problem": "Find n.", "solution": "So 073.",
          "url": "https://example.org/a?b=1,2"}],
        (),
    ),
    "verl with its usual columns": (
        [{"data_source": "openai/gsm8k", "prompt": asked("1+1="), "ability": "math",
          "reward_model": {"style": "rule", "ground_truth": "2"}, "extra_info": {"split": "train", "index": 0}}],
        [{"messages": asked("1+1="), "answer": "2", "data_source": "openai/gsm8k", "ability": "math",
          "reward_model": {"style": "rule", "ground_truth": "2"}, "extra_info": {"split": "train", "index": 0}}],
        (),
    ),
    "ShareGPT": (
        [{"id": "1", "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello!"}]}],
        [{"messages": asked("Hi"), "reference": "Hello!", "id": "1"}],
        (),
    ),
    "ShareGPT with a system's turn": (
        [{"conversations": [{"from": "system", "value": "Be brief."}, {"from": "human", "value": "Hi"},
                            {"from": "gpt", "value": "Hello!"}]}],
        [{"messages": [{"role": "system", "content": "Be brief."}, *asked("Hi")], "reference": "Hello!"}],
        (),
    ),
    "ShareGPT with a system's column": (
        [{"system": "Be brief.", "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Yes?"}]},
         {"system": "", "conversations": [{"from": "human", "value": "Ho"}, {"from": "gpt", "value": "No?"}]}],
        [{"messages": [{"role": "system", "content": "Be brief."}, *asked("Hi")], "reference": "Yes?",
          "system": "Be brief."},
         {"messages": asked("Ho"), "reference": "No?", "system": ""}],
        (),
    ),
    "OpenAI, a developer's message": (
        [{"messages": [{"role": "developer", "content": "Be brief."}, *asked("Hi")]}],
        [{"messages": [{"role": "system", "content": "Be brief."}, *asked("Hi")]}],
        (),
    ),
    "OpenAI, parts of text": (
        [{"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}], "answer": "Ho"}],
        [{"messages": asked("Hi"), "answer": "Ho"}],
        (),
    ),
    "preferences beside a prompt": (
        [{"prompt": "Hi", "chosen": "Hello!", "rejected": "What?"}],
        [{"prompt": "Hi", "chosen": "Hello!", "rejected": "What?"}],
        (),
    ),
    "answered chats": (
        [{"messages": [*asked("Hi"), _said("Ho")], "id": 1}, {"messages": [*asked("a"), _said("b"), *asked("c"),
                                                                          _said("")], "id": 2}],
        [{"messages": asked("Hi"), "completion": "Ho", "id": 1},
         {"messages": [*asked("a"), _said("b"), *asked("c")], "completion": "", "id": 2}],
        (),
    ),
    "TRL, a prompt and a completion": (
        [{"prompt": asked("Hi"), "completion": [_said("Ho")]}],
        [{"messages": asked("Hi"), "completion": "Ho"}],
        (),
    ),
    "TRL, preferences": (
        [{"prompt": asked("Hi"), "chosen": [_said("Ho")], "rejected": [_said("No")]}],
        [{"messages": asked("Hi"), "chosen": "Ho", "rejected": "No"}],
        (),
    ),
    "TRL, preferences without a prompt": (
        [{"chosen": [*asked("Hi"), _said("Ho")], "rejected": [*asked("Hi"), _said("No")], "score": 0.5}],
        [{"messages": asked("Hi"), "chosen": "Ho", "rejected": "No", "score": 0.5}],
        (),
    ),
    "UltraFeedback": (
        [{"prompt": "Hi", "chosen": [*asked("Hi"), _said("Ho")], "rejected": [*asked("Hi"), _said("No")]}],
        [{"messages": asked("Hi"), "chosen": "Ho", "rejected": "No", "source_prompt": "Hi"}],
        (),
    ),
    "Alpaca": (
        [{"instruction": "Name a river.", "input": "", "output": "Nile"},
         {"instruction": "Add.", "input": "1, 2", "output": "3"}],
        [{"messages": asked("Name a river."), "completion": "Nile", "instruction": "Name a river.", "input": "",
          "output": "Nile"},
         {"messages": asked("Add.\n\n1, 2"), "completion": "3", "instruction": "Add.", "input": "1, 2",
          "output": "3"}],
        (),
    ),
    "plain text": (
        [{"text": "Once upon a time."}, {"text": "The end."}],
        [{"prompt": "Once upon a time."}, {"prompt": "The end."}],
        (),
    ),
    "numbers as answers": (
        [{"question": "1+1?", "answer": 2}, {"question": "1/2?", "answer": 3}],
        [{"messages": asked("1+1?"), "answer": "2", "question": "1+1?"},
         {"messages": asked("1/2?"), "answer": "3", "question": "1/2?"}],
        (),
    ),
    "objects within objects": (
        [{"prompt": "a", "meta": {"source": {"name": "x", "pages": [1, 2]}, "tags": ["p", "q"]}}],
        [{"prompt": "a", "meta": {"source": {"name": "x", "pages": [1, 2]}, "tags": ["p", "q"]}}],
        (),
    ),
    "numbers and truths": (
        [{"prompt": "a", "n": 1, "x": 0.5, "ok": True}, {"prompt": "b", "n": -7, "x": 1e-9, "ok": False}],
        [{"prompt": "a", "n": 1, "x": 0.5, "ok": True}, {"prompt": "b", "n": -7, "x": 1e-9, "ok": False}],
        (),
    ),
    "texts that look like something else": (
        [
            {"prompt": "a", "note": "", "code": "007", "json": "[1]"},
            {"prompt": "b", "note": "null", "code": "1e5", "json": "{}"},
            {"prompt": "c", "note": " x ", "code": "true", "json": '"'},
        ],
        [
            {"prompt": "a", "note": "", "code": "007", "json": "[1]"},
            {"prompt": "b", "note": "null", "code": "1e5", "json": "{}"},
            {"prompt": "c", "note": " x ", "code": "true", "json": '"'},
        ],
        (),
    ),
}  # fmt: skip
"""By name: rows as people have them, the rows that are stored, and the codes of warnings."""

MIXED: list[Row] = [
    {"prompt": "a", "answer": 1, "late": None, "list": [1, "x", None], "": 0},
    {"prompt": "b\r\nc\rd\n", "answer": "1", "list": [], " spaced ": "x"},
    {"prompt": "e", "answer": ["1", 2], "late": "é", "=name": {"k": {"": [True]}}, "a::json": "{"},
    {"prompt": "f", "answer": None, "huge": 2**100, "large": 2**60, "a.b": "", '"': "", "b::escaped": "'"},
    {"prompt": "g", "huge": 1, "x": 1.0, "zero": -0.0, "tiny": 5e-324, "messages_": asked("h")},
]
"""Rows that only JSON can hold: keys that some lack, values of several types in a column, null beside nothing."""


def _documents() -> Iterator[PeoplesFile]:
    for what, (rows, stored, warnings) in CONTENTS.items():
        array = json.dumps(rows, ensure_ascii=False, indent=2)
        forms = {
            "JSON lines": lines(rows),
            "JSON lines of ASCII": lines(rows, ascii_only=True),
            "JSON lines, line ends of Windows": lines(rows).replace(b"\n", b"\r\n"),
            "JSON lines, a mark": b"\xef\xbb\xbf" + lines(rows),
            "JSON lines in UTF-16": lines(rows).decode().encode("utf-16"),
            "JSON lines, gzip": gzipped(lines(rows)),
            "JSON lines, Zstandard": zstandard(lines(rows)),
            "JSON": array.encode(),
            "JSON on a line": json.dumps(rows).encode(),
            "JSON in an object": json.dumps({"version": "1", "data": rows}).encode(),
            "JSON, gzip": gzipped(array.encode()),
            "Parquet": parquet(rows),
        }
        for form, content in forms.items():
            yield PeoplesFile(what, f"{what}: {form}", content, rows=stored, warnings=warnings)
    yield PeoplesFile("mixed", "mixed values: JSON lines", lines(MIXED), rows=MIXED, warnings=_OF_MIXED)
    yield PeoplesFile("mixed", "mixed values: JSON", json.dumps(MIXED).encode(), rows=MIXED, warnings=_OF_MIXED)


_OF_MIXED = ("missing_answers", "large_integers")
_BODY = [["What is the capital of France?", "Paris"], ["What is the capital of Italy, please?", "Rome"]]
_NAMED = {
    "question": ("question", "answer"),
    "prompt": ("prompt", "answer"),
}
_FOREIGN_HEADERS = {
    "question marks": ("Question?", "Answer?"),
    "capitals": ("Question", "Answer"),
    "upper case": ("QUESTION", "ANSWER"),
    "an apostrophe": ("question", "solver's answer"),
    "a typographic apostrophe": ("the question", "solver’s answer"),
    "Devanagari": ("प्रश्न", "उत्तर"),
    "a combining mark": ("quest\u0301ion", "re\u0301ponse"),
    "typographic quotes": ("“Question”", "„Antwort“"),
    "guillemets": ("«Question»", "«Réponse»"),
    "Chinese": ("问题", "答案"),
    "Arabic": ("سؤال", "جواب"),
    "Thai": ("คำถาม", "คำตอบ"),
    "stars": ("Question *", "Answer *"),
    "colons": ("Question:", "Answer:"),
    "a dash": ("Question – text", "Correct answer"),
    "dots": ("Frage.", "Answer."),
    "parts in brackets": ("question (text)", "answer [short]"),
}


def _headers() -> Iterator[PeoplesFile]:
    """A first row of names is never a row, whatever the names are."""
    for (what, names), delimiter in product(_FOREIGN_HEADERS.items(), ",;\t|"):
        shown = f"It has the columns `{names[0]}`, `{names[1]}`"
        content = table([list(names), *_BODY], delimiter).encode()
        yield PeoplesFile("headers", f"a header with {what}, {delimiter!r}", content, refused=shown)
    for what, first in {
        "a short question": ["Who?", "I"],
        "a question above questions": ["Is it so?", "yes"],
        "a long question": ["Could you please name the capital of this country?", "Paris"],
        "exclamations": ["Ask!", "Reply!"],
    }.items():
        body = [["Is it?", "no"], ["Is that it?", "perhaps"], ["Why?", "because"]]
        content = table([first, *body]).encode()
        yield PeoplesFile("headers", f"unclear: {what}", content, refused="It is not clear whether the first row")


def _tables() -> Iterator[PeoplesFile]:
    marks = {"": "", "a mark, ": "\ufeff"}
    ends = {"": "\n", "line ends of Windows, ": "\r\n"}
    body = [*_BODY, ['A quote: "x" and 1,5?', "=1+1"], ["Two\nlines?", "-5"], ["Ω, 日本, 👩‍🚀?", "'t was"]]
    for delimiter, (mark_name, mark), (end_name, end), (shape, names) in product(
        ",;\t|", marks.items(), ends.items(), _NAMED.items()
    ):
        text = mark + table([list(names), *body], delimiter, end)
        stored = [_stored(shape, *cells) for cells in body]
        what = f"{mark_name}{end_name}{names[0]}, {delimiter!r}"
        yield PeoplesFile("tables", what, text.encode(), rows=stored)
        if not mark:
            yield PeoplesFile("tables", f"UTF-16, {what}", text.encode("utf-16"), rows=stored)
            yield PeoplesFile("tables", f"gzip, {what}", gzipped(text.encode()), rows=stored)
    for delimiter, line in ((";", "sep=;"), (",", "sep=,"), ("\t", "sep=\t"), ("|", '"sep=|"'), ("^", "SEP=^")):
        for end_name, end in ends.items():
            text = line + end + table([["question", "answer"], *body], delimiter, end)
            stored = [_stored("question", *cells) for cells in body]
            yield PeoplesFile("tables", f"{end_name}{line!r} of Excel", text.encode(), rows=stored)
            yield PeoplesFile("tables", f"{end_name}{line!r} of Excel, a mark", f"\ufeff{text}".encode(), rows=stored)
    for delimiter in ",;\t|":
        pairs = [["How many apples do three trees bear, with 1,250 each?", "3,750"], ["And what is a pair?", "1,2"]]
        stored = [
            {"messages": asked(pairs[0][0]), "answer": "3750"}, {"messages": asked(pairs[1][0]), "answer": "1,2"}
        ]  # fmt: skip
        content = table(pairs, delimiter).encode()
        yield PeoplesFile("tables", f"no header, numbers, {delimiter!r}", content, rows=stored)
        sentences = [[f"Which city is the capital of country {name}?", name[::-1]] for name in ("ab", "cd", "ef")]
        stored = [{"messages": asked(question), "answer": answer} for question, answer in sentences]
        yield PeoplesFile(
            "tables", f"no header, texts, {delimiter!r}", table(sentences, delimiter).encode(), rows=stored
        )


def _stored(shape: str, question: str, answer: str) -> Row:
    if shape == "prompt":
        return {"prompt": question, "answer": answer}
    return {"messages": asked(question), "answer": answer.strip(), "question": question}


def _texts() -> Iterator[PeoplesFile]:
    """Columns that nobody reads, in Parquet."""
    odd = pa.array([1_700_000_000_000_000_001, None], pa.timestamp("ns"))
    for what, column, texts in (
        ("a time with an odd nanosecond", odd, ["2023-11-14T22:13:20.000000001", None]),
        (
            "a time with a zone and an odd nanosecond",
            pa.array([1_700_000_000_000_000_001, 0], pa.timestamp("ns", tz="Europe/Berlin")),
            ["2023-11-14T22:13:20.000000001Z", "1970-01-01T01:00:00+01:00"],
        ),
        ("times in a list", pa.array([[1], []], pa.list_(pa.timestamp("ns"))), [["1970-01-01T00:00:00.000000001"], []]),
        (
            "times in an object",
            pa.array([{"at": 1}, {"at": 1000}], pa.struct([("at", pa.timestamp("ns"))])),
            [{"at": "1970-01-01T00:00:00.000000001"}, {"at": "1970-01-01T00:00:00.000001"}],
        ),
        ("a time of day", pa.array([1, 1000], pa.time64("ns")), ["00:00:00.000000001", "00:00:00.000001"]),
        ("a duration", pa.array([1, 10**9], pa.duration("ns")), [1e-9, 1.0]),
    ):
        file = io.BytesIO()
        pq.write_table(pa.table({"prompt": ["a", "b"], "when": column}), file)
        stored = [{"prompt": prompt, "when": text} for prompt, text in zip("ab", texts, strict=True)]
        yield PeoplesFile("texts", f"Parquet: {what}", file.getvalue(), rows=stored)

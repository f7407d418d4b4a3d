"""Files whose columns, signs or encodings may be read as something else, and files that are refused."""

import datetime
import decimal
import io
import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.support.peoples_files import PeoplesFile, Row, asked, lines, parquet


def odd_files() -> list[PeoplesFile]:
    """All of them."""
    return [*_columns(), *_values(), *_refused()]


def _columns() -> Iterator[PeoplesFile]:
    """Types of Parquet's columns, as JSON."""
    kinds: dict[str, tuple[pa.Array, list[Any]]] = {
        "decimals": (pa.array([decimal.Decimal("1.50"), None]), ["1.50", None]),
        "dates": (pa.array([datetime.date(2020, 1, 2), None]), ["2020-01-02", None]),
        "a dictionary": (pa.array(["x", "y"]).dictionary_encode(), ["x", "y"]),
        "large strings": (pa.array(["x", "é"], pa.large_string()), ["x", "é"]),
        "a map": (pa.array([[("k", 1)], [("l", 2)]], pa.map_(pa.string(), pa.int64())), [{"k": 1}, {"l": 2}]),
        "lists": (pa.array([["a"], []]), [["a"], []]),
        "lists of objects": (pa.array([[{"a": 1}], []]), [[{"a": 1}], []]),
        "objects that lack": (pa.array([{"a": 1}, None]), [{"a": 1}, None]),
        "truths that lack": (pa.array([True, None]), [True, None]),
        "small numbers": (pa.array([1, -1], pa.int8()), [1, -1]),
        "floats of four bytes": (pa.array([0.5, -2.0], pa.float32()), [0.5, -2.0]),
        "times with a zone": (
            pa.array([0, 1], pa.timestamp("ms", "UTC")),
            ["1970-01-01T00:00:00+00:00", "1970-01-01T00:00:00.001000+00:00"],
        ),
    }
    for what, (column, values) in kinds.items():
        for compression in ("none", "gzip", "zstd", "lz4", "brotli"):
            file = io.BytesIO()
            pq.write_table(pa.table({"prompt": ["a", "b"], "x": column}), file, compression=compression)
            stored = [{"prompt": prompt, "x": value} for prompt, value in zip("ab", values, strict=True)]
            yield PeoplesFile("columns", f"Parquet, {compression}: {what}", file.getvalue(), rows=stored)


_SIGNS = (
    "=1+1", "+1", "-1", "@a", "'", "''a", '"', '""', ",", ";", "|", "\t", "a\tb", "\n", "a\nb", "\r", "a\r\nb",
    " ", " a ", "", "null", "None", "NaN", "nan", "inf", "-inf", "true", "FALSE", "0", "00", "1.0", "1e5", "1,5",
    "1.234,5", "0x10", "½", "[", "[]", "{", "{}", "[1]", '{"a": 1}', '"a"', "\\", "\\n", "\\u0041", "\\frac{1}{2}",
    "$x$", "$$", "#", "# a", "//", "--", "<b>", "&amp;", "%s", "{0}", "::json", "a::escaped", "\ufeff", "\u00a0",
    "\u200b", "\u202eabc", "é", "e\u0301", "日本", "👩\u200d🚀", "𝒳", "ß", "İ", "ﬁ", "¿", "«»", "“”", "sep=;",
    "question,answer", "prompt", "2020-01-02", "12:00", "3/4", "50%", "#### 1", "\\boxed{1}", "<image>",
    "<|im_end|>", "http://a.b/?c=d&e=f", "a" * 5_000, "x,y;z|w\tv", "'; DROP TABLE rows; --",
)  # fmt: skip
"""Texts that a format may take for something else."""


def _values() -> Iterator[PeoplesFile]:
    """Each sign in a prompt and in a column, in a file of its own; and as the name of a column."""
    for number, sign in enumerate(_SIGNS):
        rows: list[Row] = [{"prompt": f"{number}: {sign}", "note": sign}, {"prompt": f"{number}!", "note": "plain"}]
        yield PeoplesFile("values", f"{number}: {sign[:20]!r}", lines(rows), rows=rows, warnings=_WARNED.get(sign, ()))
        named: list[Row] = [{"prompt": f"{number}?", f"n{sign[:40]}": 1}, {"prompt": f"{number}.", f"n{sign[:40]}": 2}]
        yield PeoplesFile("values", f"a column, {number}: {sign[:20]!r}", lines(named), rows=named)


_WARNED = {"<|im_end|>": ("control_tokens",)}


def _refused() -> Iterator[PeoplesFile]:
    """Files of which nothing is taken, each with a reason that names what to do."""
    text = "question,answer\nWie heißt die Hauptstadt von Österreich?,Wien\nUnd von Italien?,Rom\n"
    chinese = "question,answer\n法国的首都是什么？,巴黎\n意大利的首都是什么？,罗马\n"
    for encoding in ("cp1252", "latin-1", "mac_roman", "cp850"):
        yield PeoplesFile("refused", f"CSV in {encoding}", text.encode(encoding), refused="Save the table as UTF-8")
    for encoding in ("gb18030", "gbk"):
        yield PeoplesFile("refused", f"CSV in {encoding}", chinese.encode(encoding), refused="Save the table as UTF-8")
    for encoding in ("utf-16-le", "utf-16-be"):
        yield PeoplesFile(
            "refused", f"CSV in {encoding}, no mark", text.encode(encoding), refused="UTF-16 without its mark"
        )
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    faulty: tuple[tuple[str, list[Row], str], ...] = (
        ("HH", [{"chosen": "\n\nHuman: Hi\n\nAssistant: Ho", "rejected": "\n\nHuman: Hi"}], "`chosen`, `rejected`"),
        ("MMLU", [{"question": "Which?", "choices": ["a", "b"], "answer": 1}], "`question`, `choices`, `answer`"),
        ("an answer that is null", [{"question": "1+1?", "answer": None}], "`answer` must be a string or a number"),
        (
            "a picture in a chat",
            [{"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}],
            "only text parts",
        ),
        (
            "tool calls",
            [{"messages": [*asked("Hi"), {"role": "assistant", "content": None, "tool_calls": [call]}]}],
            "tool calls instead of text",
        ),
        (
            "a chat with another that the model ends",
            [{"messages": asked("Hi")}, {"messages": [*asked("Hi"), {"role": "assistant", "content": "Ho"}]}],
            "must end with a message of the role user",
        ),
        (
            "a chat that the model ends with another",
            [{"messages": [*asked("Hi"), {"role": "assistant", "content": "Ho"}]}, {"messages": asked("Hi")}],
            "must end with a message of the role assistant",
        ),
        ("MATH without a box", [{"problem": "1+1?", "solution": "Two."}], "its `solution` has no \\boxed{}"),
    )
    for what, rows, words in faulty:
        for form, content in {
            "JSON lines": lines(rows),
            "JSON": json.dumps(rows).encode(),
            "Parquet": parquet(rows),
        }.items():
            if what != "an answer that is null" or form != "Parquet":
                yield PeoplesFile("refused", f"{what}: {form}", content, refused=words)

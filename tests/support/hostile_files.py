"""Files that break what reads them: each with what exactly must become of it. They are made by code, not stored."""

import gzip
import io
import json
import struct
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


@dataclass(frozen=True, slots=True)
class Hostile:
    """A file and its outcome: rows and codes of warnings, or the words of its refusal."""

    what: str
    content: bytes
    name: str = "rows"
    rows: int = 0
    warnings: tuple[str, ...] = ()
    place: str | None = None
    """Pointer of the first fault, None where the file is accepted."""
    words: str = ""
    """What the sentence about it holds."""
    faults: int = 1


GOOD = b'{"prompt": "1+1=", "answer": "2"}\n'
MIB = 1 << 20


def hostile_files() -> list[Hostile]:
    """All of them."""
    return [
        *_text_of_rows(),
        *_values(),
        *_chats(),
        *_findings(),
        *_arrays(),
        *_documents(),
        *_tables(),
        *_packed(),
        *_encodings(),
        *_foreign(),
        *_parquet(),
        *_archives(),
        *_shapes(),
    ]


def refused(
    what: str, content: bytes, words: str, place: str = "/file", *, faults: int = 1, name: str = "rows"
) -> Hostile:
    return Hostile(what, content, name=name, place=place, words=words, faults=faults)


def _line(what: str, line: bytes, words: str) -> Hostile:
    """A fault in the second of three lines."""
    return refused(f"line: {what}", GOOD + line + b"\n" + GOOD, words, "/file/lines/2")


def _text_of_rows() -> Iterator[Hostile]:
    yield Hostile("no line end at the end", GOOD.rstrip(), rows=1)
    yield Hostile(
        "empty lines between and behind",
        b"\n\n" + GOOD + b"\r\n \n\t\n" + GOOD.replace(b"+1", b"+2") + b"\n\n\n",
        rows=2,
    )
    yield Hostile("line ends of Windows", GOOD.replace(b"\n", b"\r\n"), rows=1)
    yield Hostile("white space around rows", b"   " + GOOD.rstrip() + b"  \t\n", rows=1)
    yield refused("empty file", b"", "no rows")
    yield refused("only line ends", b"\n\r\n\n", "no rows")
    yield refused("only white space", b"   \t ", "no rows")
    for what, line, words in (
        ("not closed", b'{"prompt": "a"', "not valid JSON"),
        ("one quote", b'{"prompt": "a}', "not valid JSON: Unterminated string"),
        ("single quotes", b"{'prompt': 'a'}", "not valid JSON"),
        ("Python's words", b'{"prompt": "a", "x": None}', "not valid JSON"),
        ("trailing comma", b'{"prompt": "a",}', "not valid JSON"),
        ("comment", b'{"prompt": "a"} // so', "Extra data"),
        ("two rows", GOOD.strip() + GOOD.strip(), "Extra data"),
        ("bare word", b"prompt", "not valid JSON"),
        ("control character", b'{"prompt": "a\x01b"}', "Invalid control character"),
        ("bad escape", b'{"prompt": "\\x41"}', "Invalid \\escape"),
        ("half an escape", b'{"prompt": "\\u12"}', "Invalid \\uXXXX escape"),
        ("leading zero", b'{"prompt": "a", "x": 01}', "not valid JSON"),
        ("hexadecimal", b'{"prompt": "a", "x": 0x10}', "not valid JSON"),
        ("plus sign", b'{"prompt": "a", "x": +1}', "not valid JSON"),
        ("array", b"[]", "must be a JSON object, not array"),
        ("text", b'"a"', "must be a JSON object, not string"),
        ("number", b"12", "must be a JSON object, not number"),
        ("null", b"null", "must be a JSON object, not null"),
        ("boolean", b"true", "must be a JSON object, not boolean"),
        ("key twice", b'{"prompt": "a", "prompt": "b"}', "'prompt' appears twice"),
        ("key twice inside", b'{"prompt": "a", "x": {"y": 1, "y": 2}}', "'y' appears twice"),
        ("not UTF-8", b'{"prompt": "\xff\xfe"}', "not UTF-8"),
        ("Latin-1", '{"prompt": "é"}'.encode("latin-1"), "not UTF-8"),
        ("half a character", b'{"prompt": "\xe2\x82"}', "not UTF-8"),
        ("overlong character", b'{"prompt": "\xc0\xaf"}', "not UTF-8"),
        ("encoded surrogate", b'{"prompt": "\xed\xa0\x80"}', "not UTF-8"),
        ("lone high surrogate", b'{"prompt": "\\ud83d"}', "lone surrogates"),
        ("lone low surrogate", b'{"prompt": "\\ude00"}', "lone surrogates"),
        ("surrogates in the wrong order", b'{"prompt": "\\ude00\\ud83d"}', "lone surrogates"),
        ("surrogate in a key", b'{"prompt": "a", "\\ud83d": 1}', "lone surrogates"),
        ("surrogate deep inside", b'{"prompt": "a", "x": [[{"y": "\\ud83d"}]]}', "lone surrogates"),
        ("NUL", b'{"prompt": "a\\u0000b"}', "NUL characters"),
        ("NUL in a key", b'{"prompt": "a", "x\\u0000": 1}', "NUL characters"),
        ("deep lists", b'{"prompt": "a", "x": ' + b"[" * 40 + b"]" * 40 + b"}", "nested deeper than 32"),
        ("deep objects", b'{"prompt": "a", "x": ' + b'{"y":' * 40 + b"1" + b"}" * 40 + b"}", "nested deeper than 32"),
        ("endless lists", b'{"prompt": "a", "x": ' + b"[" * 100_000, "nested deeper than 32"),
        ("long row", b'{"prompt": "' + b"a" * MIB + b'"}', "longer than 1,048,576 bytes"),
        ("long row without end", b'{"prompt": "' + b"a" * (2 * MIB), "longer than 1,048,576 bytes"),
        ("Infinity", b'{"prompt": "a", "x": Infinity}', "Infinity is not JSON"),
        ("minus Infinity", b'{"prompt": "a", "x": -Infinity}', "-Infinity is not JSON"),
        ("beyond floating point", b'{"prompt": "a", "x": 1e999}', "must be finite"),
        ("number of many digits", b'{"prompt": "a", "x": ' + b"9" * 5000 + b"}", "more than 300 digits"),
    ):
        yield _line(what, line, words)


def _row(**row: Any) -> bytes:
    return json.dumps(row).encode() + b"\n"


def _values() -> Iterator[Hostile]:
    for what, row, words in (
        ("prompt a number", {"prompt": 1}, "`prompt` must be a string, not number"),
        ("prompt null", {"prompt": None}, "`prompt` must be a string, not null"),
        ("prompt a boolean", {"prompt": True}, "`prompt` must be a string, not boolean"),
        ("prompt an object", {"prompt": {"text": "a"}}, "`prompt` must be a string, not object"),
        ("prompt empty", {"prompt": ""}, "`prompt` is empty"),
        ("prompt white space", {"prompt": " \n\t\u3000"}, "`prompt` is empty"),
        ("prompt of no width", {"prompt": "\u200b"}, "characters that cannot be seen"),
        ("prompt of joiners", {"prompt": "\u200d\u2060\ufeff"}, "characters that cannot be seen"),
        ("prompt of soft hyphens", {"prompt": "\u00ad \u00ad"}, "characters that cannot be seen"),
        ("prompt of a Hangul filler", {"prompt": "\u3164"}, "characters that cannot be seen"),
        ("prompt of direction marks", {"prompt": "\u202e\u202c"}, "characters that cannot be seen"),
        ("both", {"prompt": "a", "messages": []}, "not both"),
        ("neither", {"text_of_it": "a"}, "needs either `prompt` or `messages`"),
        ("no columns", {}, "needs either `prompt` or `messages`"),
        ("answer an object", {"prompt": "a", "answer": {"x": 1}}, "`answer` must be a string"),
        ("answer a list of objects", {"prompt": "a", "answer": [{"x": 1}]}, "`answer` may be a list of accepted"),
        ("answer a list of lists", {"prompt": "a", "answer": [["x"]]}, "`answer` may be a list of accepted"),
        ("answer a list with null", {"prompt": "a", "answer": ["x", None]}, "`answer` may be a list of accepted"),
    ):
        yield _line(what, _row(**row).strip(), words)
    many = {f"c{number}": 1 for number in range(300)}
    yield _line("too many columns", _row(prompt="a", **many).strip(), "more than 256 different columns")
    yield Hostile("answer a boolean", _row(prompt="a", answer=True), rows=1)
    yield Hostile("answer a number", _row(prompt="a", answer=1.5), rows=1)
    yield Hostile("answer a list", _row(prompt="a", answer=["x", 2]), rows=1)
    yield Hostile("answer a list of nothing", _row(prompt="a", answer=[]), rows=1, warnings=("empty_answers",))
    yield Hostile("answer a list of blanks", _row(prompt="a", answer=["x", " "]), rows=1, warnings=("empty_answers",))
    yield Hostile("zero width beside text", _row(prompt="a\u200b"), rows=1)
    yield Hostile("an emoji of escaped surrogates", b'{"prompt": "\\ud83d\\ude00"}\n', rows=1)
    yield Hostile(
        "keys that programs stumble over", _row(prompt="a", **{"__proto__": 1, "constructor": 2, "": 3}), rows=1
    )
    yield Hostile("text of HTML", _row(prompt="<script>alert(1)</script>"), rows=1)
    yield Hostile("text of formulas", _row(prompt="=cmd|' /C calc'!A0"), rows=1)
    yield Hostile("text from right to left", _row(prompt="\u202eabc"), rows=1)
    yield Hostile("combining marks", _row(prompt="a" + "\u0301" * 5000), rows=1)
    yield Hostile("almost too deep", b'{"prompt": "a", "x": ' + b"[" * 31 + b"]" * 31 + b"}", rows=1)
    yield Hostile("almost too long", b'{"prompt": "' + b"a" * (MIB - 14) + b'"}', rows=1)


def _chats() -> Iterator[Hostile]:
    user = {"role": "user", "content": "a"}
    for what, messages, words in (
        ("no messages", [], "at least one message"),
        ("messages null", None, "must be a list"),
        ("messages an object", {"role": "user"}, "must be a list"),
        ("a message of text", ["a"], "Message 1 must be an object"),
        ("a message null", [user, None], "Message 2 must be an object"),
        ("no role", [{"content": "a"}], "Message 1: `role` must be one of"),
        ("an unknown role", [{"role": "human", "content": "a"}], "Message 1: `role` must be one of"),
        ("a tool", [user, {"role": "tool", "content": "a"}], "Message 2 is the result of a tool call"),
        ("a function", [user, {"role": "function", "content": "a"}], "Message 2 is the result of a tool call"),
        (
            "a tool call",
            [user, {"role": "assistant", "content": None, "tool_calls": [{}]}],
            "Message 2 holds tool calls",
        ),
        (
            "a function call",
            [user, {"role": "assistant", "function_call": {"name": "f"}}],
            "Message 2 holds tool calls",
        ),
        (
            "no tool call",
            [user, {"role": "assistant", "content": None, "tool_calls": []}],
            "`content` must be a string",
        ),
        ("a role in capitals", [{"role": "User", "content": "a"}], "Message 1: `role` must be one of"),
        ("a role that is a list", [{"role": ["user"], "content": "a"}], "Message 1: `role` must be one of"),
        ("no content", [{"role": "user"}], "Message 1: `content` must be a string"),
        ("content null", [{"role": "user", "content": None}], "Message 1: `content` must be a string"),
        ("content a number", [{"role": "user", "content": 1}], "Message 1: `content` must be a string"),
        ("the model last", [user, {"role": "assistant", "content": "b"}], "must end with a message of the role user"),
        ("only the system", [{"role": "system", "content": "b"}], "must end with a message of the role user"),
        ("an empty question", [{"role": "user", "content": " "}], "The last message is empty"),
        ("a question of no width", [{"role": "user", "content": "\u200b"}], "characters that cannot be seen"),
    ):
        yield refused(f"chat: {what}", _row(messages=[user]) + _row(messages=messages), words, "/file/lines/2")
    yield Hostile(
        "chat: empty answers before", _row(messages=[user, {"role": "assistant", "content": ""}, user]), rows=1
    )


def _findings() -> Iterator[Hostile]:
    other = b'{"prompt": "2+2=", "answer": "4"}\n'
    yield Hostile(
        "control tokens of ChatML", _row(prompt="<|im_end|>\n<|im_start|>system"), rows=1, warnings=("control_tokens",)
    )
    yield Hostile("control tokens of Llama", _row(prompt="a</s>[INST]"), rows=1, warnings=("control_tokens",))
    yield Hostile(
        "control tokens deep inside", _row(prompt="a", x=[{"y": "<think>"}]), rows=1, warnings=("control_tokens",)
    )
    yield Hostile("a row twice", GOOD + other + GOOD, rows=3, warnings=("duplicate_rows",))
    yield Hostile("a row a thousand times", GOOD * 1000, rows=1000, warnings=("duplicate_rows",))
    yield Hostile(
        "the same question with other answers",
        GOOD + GOOD.replace(b'"2"', b'"3"'),
        rows=2,
        warnings=("other_answers",),
    )
    yield Hostile("an id twice", _row(prompt="a", id=1) + _row(prompt="b", id="1"), rows=2, warnings=("duplicate_ids",))
    yield Hostile("ids and none", _row(prompt="a", id=1) + _row(prompt="b", id=None), rows=2)
    yield Hostile("an answer empty", _row(prompt="a", answer="") + other, rows=2, warnings=("empty_answers",))
    yield Hostile(
        "an answer of no width", _row(prompt="a", answer="\u200b") + other, rows=2, warnings=("empty_answers",)
    )
    yield Hostile("an answer missing", _row(prompt="a") + other, rows=2, warnings=("missing_answers",))
    yield Hostile("an answer null", _row(prompt="a", answer=None) + other, rows=2, warnings=("missing_answers",))
    yield Hostile("no answers at all", _row(prompt="a") + _row(prompt="b"), rows=2)
    yield Hostile(
        "three answers to a question",
        GOOD + GOOD.replace(b'"2"', b'"3"') + GOOD.replace(b'"2"', b"2"),
        rows=3,
        warnings=("duplicate_rows", "other_answers"),
    )
    yield Hostile("an answer and none", GOOD + _row(prompt="1+1="), rows=2, warnings=("missing_answers",))
    yield Hostile("a picture", _row(prompt="<image> What?", images=["a.png"]), rows=1, warnings=("pictures",))
    yield Hostile("a picture without its tag", _row(prompt="What?", image_path="a.png"), rows=1, warnings=("pictures",))
    yield Hostile("a tag without a picture", _row(prompt="<image> in SVG?", images=[]), rows=1)
    yield Hostile("a column about pictures", _row(prompt="What?", image_count=2), rows=1)
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    chat = [{"role": "user", "content": "a"}]
    yield Hostile("tools", _row(messages=chat, tools=[tool]), rows=1)
    yield Hostile("tools as text", _row(messages=chat, tools=json.dumps([tool])), rows=1)
    yield Hostile("no tools", _row(messages=chat, tools=[]) + _row(prompt="b", tools=None), rows=2)
    yield Hostile("tools of a prompt", _row(prompt="a", tools=[tool]), rows=1, warnings=("hidden_tools",))
    yield Hostile("names of tools", _row(messages=chat, tools=["f"]), rows=1, warnings=("hidden_tools",))
    yield Hostile("tools as a word", _row(messages=chat, tools="f"), rows=1, warnings=("hidden_tools",))
    yield Hostile("NaN", b'{"prompt": "a", "x": NaN}', rows=1, warnings=("nan",))
    yield Hostile("NaN inside", b'{"prompt": "a", "x": [{"y": NaN}]}', rows=1, warnings=("nan",))
    for number in (2**53 + 1, -(2**53) - 1, 2**63, 2**64, 10**40):
        yield Hostile(f"the integer {number}", _row(prompt="a", x=number), rows=1, warnings=("large_integers",))
    yield Hostile("the integer 2**53", _row(prompt="a", x=2**53), rows=1)
    yield Hostile("a large answer", _row(prompt="a", answer=2**60), rows=1, warnings=("large_integers",))


def _arrays() -> Iterator[Hostile]:
    yield Hostile("array: of one", b"[" + GOOD.strip() + b"]", rows=1)
    yield Hostile(
        "array: on lines", b"[\n" + GOOD.strip() + b",\n" + GOOD.strip().replace(b"+1", b"+2") + b"\n]\n", rows=2
    )
    yield refused("array: empty", b"[]", "no rows")
    yield refused("array: not closed", b"[" + GOOD, "not closed")
    yield refused(
        "array: cut in a row", b"[" + GOOD.strip() + b', {"prompt": "a', "not closed: the file ends after 1 whole rows"
    )
    yield refused("array: of numbers", b"[1, 2]", "must be a JSON object, not number", "/file/rows/1", faults=2)
    yield refused("array: of lists", b'[["a", "b"]]', "must be a JSON object, not array", "/file/rows/1")
    yield refused("array: trailing comma", b"[" + GOOD.strip() + b",]", "not valid JSON", "/file/rows/2")
    yield refused(
        "array: two commas", b"[" + GOOD.strip() + b",," + GOOD.strip() + b"]", "not valid JSON", "/file/rows/2"
    )
    yield refused("array: more behind it", b"[" + GOOD.strip() + b"] []", "more behind the end of the array")
    yield refused(
        "array: two arrays", b"[" + GOOD.strip() + b"]\n[" + GOOD.strip() + b"]", "more behind the end of the array"
    )
    yield refused("array: endless opening", b"[" * 100_000, "not closed")
    yield refused("array: a long row", b'[{"prompt": "' + b"a" * MIB + b'"}]', "longer than 1,048,576", "/file/rows/1")
    yield refused("array: no commas", b"[" + GOOD.strip() + b" " + GOOD.strip() + b"]", "Extra data", "/file/rows/1")


def _documents() -> Iterator[Hostile]:
    rows = [{"prompt": "a"}, {"prompt": "b"}]
    yield Hostile("object: data on one line", json.dumps({"data": rows}).encode(), rows=2)
    yield Hostile("object: data on lines", json.dumps({"version": "1.0", "data": rows}, indent=2).encode(), rows=2)
    yield Hostile(
        "object: more behind the list", json.dumps({"train": rows, "license": "MIT"}, indent=1).encode(), rows=2
    )
    yield Hostile("object: one row on lines", json.dumps({"prompt": "a", "answer": "b"}, indent=2).encode(), rows=1)
    yield Hostile(
        "object: a row with a list of objects", _row(prompt="a", tests=[{"input": "", "output": "1"}]), rows=1
    )
    yield Hostile("object: a row whose list comes first", _row(tests=[{"input": "a"}], prompt="a"), rows=1)
    yield Hostile(
        "object: one chat", json.dumps({"messages": [{"role": "user", "content": "a"}]}, indent=2).encode(), rows=1
    )
    yield refused(
        "object: two lists", json.dumps({"train": rows, "test": rows}, indent=1).encode(), "several lists of rows"
    )
    yield refused("object: cut", json.dumps({"data": rows}, indent=1).encode()[:-20], "not closed")
    yield refused(
        "object: the wrapper is not closed", b'{"data": [' + GOOD.strip() + b"]", "around the list of rows is not valid"
    )
    yield refused(
        "object: columns of pandas",
        b'{"prompt": {"0": "a", "1": "b"}}',
        "must be a string, not object",
        "/file/lines/1",
    )
    yield refused("object: lists of columns", b'{"prompt": ["a", "b"]}', "must be a string, not array", "/file/lines/1")
    yield refused("object: escapes without end", b'{"' + b'\\"' * 30_000, "not valid JSON", "/file/lines/1")
    yield refused("object: broken on lines", b'{\n "prompt": a\n}', "not valid JSON", "/file/rows/1")


def _table(text: str, what: str, **outcome: Any) -> Hostile:
    return Hostile(f"table: {what}", text.encode(), **outcome)


def _tables() -> Iterator[Hostile]:
    yield _table("prompt,answer\n1+1=,2\n2+2=,4\n", "plain", rows=2)
    yield _table("prompt\tanswer\n1+1=\t2\n2+2=\t4\n", "tabs", rows=2)
    yield _table("prompt;answer\n1+1=;2\n2+2=;4\n", "semicolons", rows=2)
    yield _table("prompt|answer\n1+1=|2\n2+2=|4\n", "bars", rows=2)
    yield _table("prompt,answer\r\n1+1=,2\r\n", "line ends of Windows", rows=1)
    yield _table("\ufeffprompt,answer\n1+1=,2\n", "a mark of UTF-8", rows=1)
    yield _table('prompt,answer\n"a, ""b""\nc",2\n', "quotes, commas and line ends in cells", rows=1)
    yield _table("prompt,answer\n\n1+1=,2\n\n\n", "empty lines", rows=1)
    yield _table("prompt,answer\n1+1=,\n2+2=,4\n", "an empty answer", rows=2, warnings=("empty_answers",))
    yield _table("prompt,answer\n1+1=,2\n1+1=,2\n", "a row twice", rows=2, warnings=("duplicate_rows",))
    yield _table("prompt\n1+1=\n2+2=\n", "one column", name="prompts.csv", rows=2)
    yield _table("What is 1, or 2?\t3\nAnd 2?\t4\n", "no header", rows=2)
    yield _table("question,answer\nWhat?,#### 3\n", "GSM8K", rows=1)
    for what, text, words, place in (
        ("a cell too few", "prompt,answer\na,b\nc\n", "1 cell, the table 2 columns", "/file/lines/3"),
        ("a cell too many", "prompt,answer\na,b\nc,d,e\n", "3 cells, the table 2 columns", "/file/lines/3"),
        ("a comma that is not in quotes", "prompt,answer\na,b\nc, d,e\nf,g\n", "3 cells", "/file/lines/3"),
        ("a fault behind a cell of lines", 'prompt,answer\n"a\nb\nc",d\ne\n', "1 cell", "/file/lines/5"),
        ("a quote not closed", 'prompt,answer\na,b\n"c,d\ne,f\n', "Line 3: a quote is opened here", "/file"),
        ("text behind a quote", 'prompt,answer\na,b\n"c"d,e\n', "Line 3: the row is no CSV", "/file"),
        ("a name twice", "prompt,prompt\na,b\n", "the column `prompt` twice", "/file"),
        ("only a header", "prompt,answer\n", "no rows", "/file"),
        ("an empty prompt", "prompt,answer\n ,b\n", "`prompt` is empty", "/file/lines/2"),
        ("NUL", "prompt,answer\na\0,b\nc,d\n", "NUL characters", "/file/lines/2"),
        ("unknown columns", "colour,size\nred,3\n", "It has the columns `colour`, `size`", "/file/lines/2"),
        ("too many columns", ",".join(f"c{n}" for n in range(300)) + "\n" + ",".join("x" * 300) + "\n", "256", "/file"),
    ):
        yield refused(f"table: {what}", text.encode(), words, place)
    yield refused("table: Latin-1", "prompt,answer\na,b\né,c\n".encode("latin-1"), "Line 3 is not UTF-8")
    yield refused("table: a long line", b"prompt,answer\n" + b"a" * (2 * MIB) + b",b\n", "longer than 1,048,576 bytes")
    cells = b"prompt,answer\na," + b'"\n",' * 1_100_000
    yield refused("table: a row of a million cells", cells, "Line 2: the row that begins here is longer")
    yield refused("table: old Macs", b"prompt,answer\ra,b\rc,d\r", "old Macs did")


def _packed() -> Iterator[Hostile]:
    def zstd(content: bytes) -> bytes:
        return bytes(pa.Codec("zstd").compress(content, asbytes=True))

    def zip_(content: bytes) -> bytes:
        return gzip.compress(content, mtime=0)

    yield Hostile("gzip: rows", zip_(GOOD), rows=1)
    yield Hostile("gzip: in parts", zip_(GOOD[:9]) + zip_(GOOD[9:]), rows=1)
    yield Hostile("gzip: a table", zip_(b"prompt,answer\na,b\n"), rows=1)
    yield Hostile("zstd: rows", zstd(GOOD), rows=1)
    yield Hostile("zstd: an array", zstd(b"[" + GOOD + b"]"), rows=1)
    yield refused("gzip: empty", zip_(b""), "no rows")
    yield refused("gzip: cut", zip_(GOOD * 50)[:-9], "cannot be unpacked")
    yield refused("gzip: only its mark", b"\x1f\x8b", "cannot be unpacked")
    yield refused("gzip: a wrong sum", zip_(GOOD)[:-8] + b"\0" * 8, "cannot be unpacked: CRC check failed")
    yield refused("gzip: rubbish behind it", zip_(GOOD) + b"rubbish", "cannot be unpacked")
    yield refused("gzip: twice", zip_(zip_(GOOD)), "packed twice")
    yield refused("gzip: of zstd", zip_(zstd(GOOD)), "packed twice")
    yield refused("gzip: a bomb", zip_(b"a" * (66 * MIB)), "unpacks to more than 1,000 times its size")
    yield refused("gzip: empty lines", zip_(b"\n" * 200_000), "more than 100,000 empty lines")
    yield refused("gzip: a broken row", zip_(GOOD + b"x\n"), "not valid JSON", "/file/lines/2")
    yield Hostile("zstd: in parts", zstd(GOOD[:9]) + zstd(b"") + zstd(GOOD[9:]), rows=1)
    yield refused("zstd: rubbish behind it", zstd(GOOD) + b"rubbish", "cannot be unpacked")
    yield refused("zstd: cut", zstd(GOOD * 50)[:-9], "cannot be unpacked")
    yield refused("zstd: only its mark", b"\x28\xb5\x2f\xfd", "cannot be unpacked")
    yield refused("zstd: rubbish", b"\x28\xb5\x2f\xfd" + b"\xff" * 50, "cannot be unpacked")
    yield refused("zstd: twice", zstd(zstd(GOOD)), "packed twice")
    yield refused("zstd: a bomb", zstd(b"a" * (66 * MIB)), "unpacks to more than 1,000 times its size")


def _encodings() -> Iterator[Hostile]:
    text = GOOD.decode()
    yield Hostile("UTF-8 with a mark", b"\xef\xbb\xbf" + GOOD, rows=1)
    yield Hostile("UTF-16, little end first", text.encode("utf-16"), rows=1)
    yield Hostile("UTF-16, big end first", b"\xfe\xff" + text.encode("utf-16-be"), rows=1)
    yield Hostile("UTF-16, an array", f"[{text}]".encode("utf-16"), rows=1)
    yield Hostile("UTF-16, a table", "prompt,answer\n日本,é\n".encode("utf-16"), rows=1)
    yield Hostile("UTF-16, packed", gzip.compress(text.encode("utf-16"), mtime=0), rows=1)
    yield refused("UTF-16 cut in a character", text.encode("utf-16") + b"a", "begins as UTF-16 and is not")
    yield refused("UTF-16 with half a pair", text.encode("utf-16") + b"\x3d\xd8", "begins as UTF-16 and is not")
    yield refused("UTF-16 without its mark", text.encode("utf-16-le"), "UTF-16 without its mark")
    yield refused("UTF-16 without its mark, big end first", text.encode("utf-16-be"), "UTF-16 without its mark")
    yield refused("UTF-32", text.encode("utf-32"), "UTF-32")
    mark = b"\xef\xbb\xbf"
    yield refused("UTF-8 with a mark in the middle", GOOD + mark + GOOD, "not valid JSON", "/file/lines/2")
    yield refused("UTF-16 empty", b"\xff\xfe", "no rows")


def _foreign() -> Iterator[Hostile]:
    lfs = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 123\n"
    for what, content, words in (
        ("a pointer of Git LFS", lfs, "pointer of Git LFS"),
        ("a web page", b"<!DOCTYPE html>\n<html><body>404</body></html>", "web page"),
        ("a web page without its type", b"\n <HTML><body>", "web page"),
        ("an Arrow file", b"ARROW1\0\0", "an Arrow file"),
        ("an ORC file", b"ORC\n\x03", "an ORC file"),
        ("an Avro file", b"Obj\x01\x04", "an Avro file"),
        ("an SQLite database", b"SQLite format 3\0", "SQLite"),
        ("an HDF5 file", b"\x89HDF\r\n\x1a\n", "HDF5"),
        ("an array of NumPy", b"\x93NUMPY\x01", "NumPy"),
        ("a pickle", b"\x80\x04\x95", "a pickle"),
        ("an old spreadsheet", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Office"),
        ("bzip2", b"BZh91AY", "bzip2"),
        ("xz", b"\xfd7zXZ\0", "xz"),
        ("7-Zip", b"7z\xbc\xaf\x27\x1c", "7-Zip"),
        ("RAR", b"Rar!\x1a\x07", "RAR"),
        ("a PDF", b"%PDF-1.7", "PDF"),
        ("a PNG", b"\x89PNG\r\n\x1a\n", "an image"),
        ("a JPEG", b"\xff\xd8\xff\xe0", "an image"),
        ("a program", b"\x7fELF\x02", "a program"),
        ("an encrypted Parquet file", b"PARE" + b"\0" * 40, "encrypted Parquet"),
        ("zeros", b"\0" * 5000, "binary data"),
        ("numbers of 64 bits", struct.pack("<200q", *range(200)), "binary data"),
    ):
        yield refused(f"foreign: {what}", content, words)


def _written(table: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def _parquet() -> Iterator[Hostile]:
    good = _written(pa.table({"prompt": ["a", "b"], "answer": ["1", "2"]}))
    yield Hostile("Parquet: plain", good, rows=2)
    yield Hostile("Parquet: under another name", good, name="rows.jsonl", rows=2)
    yield Hostile("Parquet: in gzip", gzip.compress(good, mtime=0), rows=2)
    for codec in ("NONE", "SNAPPY", "GZIP", "BROTLI", "LZ4", "ZSTD"):
        table = pa.table({"prompt": ["a", "b"]})
        yield Hostile(f"Parquet: {codec}", _written(table, compression=codec), rows=2)
    large = pa.table({"prompt": ["a"], "x": pa.array([2**63 - 1], pa.int64()), "y": pa.array([2**64 - 1], pa.uint64())})
    yield Hostile("Parquet: large integers", _written(large), rows=1, warnings=("large_integers",))
    nan = pa.table({"prompt": ["a", "b"], "x": [float("nan"), 1.0]})
    yield Hostile("Parquet: NaN", _written(nan), rows=2, warnings=("nan",))
    inside = pa.table({"prompt": ["a"], "x": [[{"y": [float("nan")]}]]})
    yield Hostile("Parquet: NaN inside", _written(inside), rows=1, warnings=("nan",))
    nested = pa.table({"prompt": ["a"], "x": [[{"y": [1, None]}]], "when": pa.array([0], pa.timestamp("ns"))})
    yield Hostile("Parquet: nested", _written(nested), rows=1)
    pairs = pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64()))
    yield Hostile("Parquet: a map", _written(pa.table({"prompt": ["a"], "x": pairs})), rows=1)
    yield Hostile(
        "Parquet: dictionary", _written(pa.table({"prompt": pa.array(["a", "b"]).dictionary_encode()})), rows=2
    )
    deep = pa.array([1])
    for _ in range(40):
        deep = pa.ListArray.from_arrays([0, 1], deep)
    twice = pa.map_(pa.string(), pa.int64())
    for what, table, words, place in (
        ("no rows", pa.table({"prompt": pa.array([], pa.string())}), "no rows", "/file"),
        ("no columns", pa.table({}), "no rows", "/file"),
        ("bytes", pa.table({"prompt": ["a"], "image": [b"\xff"]}), "The column `image` holds bytes", "/file"),
        ("too deep", pa.table({"prompt": ["a"], "x": deep}), "nested deeper than 32", "/file"),
        ("too many columns", pa.table({f"c{n}": ["a"] for n in range(300)}), "more than 256", "/file"),
        (
            "null prompts",
            pa.table({"prompt": pa.array([None], pa.string())}),
            "must be a string, not null",
            "/file/rows/1",
        ),
        ("NUL", pa.table({"prompt": ["a", "a\0b"]}), "NUL characters", "/file/rows/2"),
        ("infinity", pa.table({"prompt": ["a"], "x": [float("inf")]}), "must be finite", "/file/rows/1"),
        ("a long row", pa.table({"prompt": ["a", "b" * (2 * MIB)]}), "longer than 1,048,576", "/file/rows/2"),
        (
            "a key twice",
            pa.table({"prompt": ["a"], "x": pa.array([[("k", 1), ("k", 2)]], twice)}),
            "one key twice",
            "/file/rows/1",
        ),
        ("unknown columns", pa.table({"colour": ["red"]}), "`colour`", "/file/rows/1"),
    ):
        yield refused(f"Parquet: {what}", _written(table), words, place)
    for kind, value in (
        (pa.timestamp("ns"), 1), (pa.time64("ns"), 1), (pa.duration("ns"), 1), (pa.timestamp("s"), 10**14),
        (pa.timestamp("us", tz="Mars/Base"), 1),
    ):  # fmt: skip
        when = pa.table({"prompt": ["a"], "x": pa.array([value], kind)})
        yield Hostile(f"Parquet: {value} as {kind}", _written(when), rows=1)
    views = pa.table({"prompt": ["a"], "x": pa.array([b"\xff"], pa.binary_view())})
    yield refused("Parquet: bytes as views", _written(views), "The column `x` holds bytes")
    large_text = pa.table({"prompt": pa.array(["a\0b"], pa.large_string())})
    yield refused("Parquet: NUL in large text", _written(large_text), "NUL characters", "/file/rows/1")
    yield refused("Parquet: NUL in a name", _written(pa.table({"prompt": ["a"], "x\0": ["b"]})), "NUL character")
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 2000, pa.int32()), pa.array(["b" * (MIB // 2)]))
    inside_list = pa.table({"prompt": ["a"], "x": pa.ListArray.from_arrays(pa.array([0, 2000], pa.int32()), text)})
    in_list = _written(inside_list, store_schema=False)
    yield refused("Parquet: a dictionary bomb in a list", in_list, "longer than 1,048,576", "/file/rows/1")
    bomb = pa.table({"prompt": ["b" * (900 * 1024)] * 120})
    yield Hostile("Parquet: a dictionary bomb", _written(bomb), rows=120, warnings=("duplicate_rows",))
    wide = pa.table({"prompt": ["b" * (4 * MIB)] * 30})
    yield refused("Parquet: a bomb of long rows", _written(wide), "longer than 1,048,576", "/file/rows/1", faults=30)
    yield refused("Parquet: only its mark", b"PAR1", "cannot be read")
    yield refused("Parquet: cut", good[: len(good) // 2], "cannot be read")
    yield refused("Parquet: without its end", good[:-4], "cannot be read")
    yield refused("Parquet: a wrong length of its end", good[:-8] + b"\xff\xff\xff\x7fPAR1", "cannot be read")
    broken = bytearray(good)
    broken[-20:-8] = b"\xff" * 12
    yield refused("Parquet: a broken end", bytes(broken), "cannot be read")


def _zip(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def _tar(files: dict[str, bytes], links: dict[str, str] | None = None) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for name, target in (links or {}).items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            archive.addfile(member)
    return out.getvalue()


def _archives() -> Iterator[Hostile]:
    good = {
        "p/problem.yaml": b"name: Sum\n",
        "p/problem_statement/problem.md": b"Add.",
        "p/data/secret/1.in": b"1 2\n",
        "p/data/secret/1.ans": b"3\n",
    }
    without = {name: content for name, content in good.items() if not name.endswith((".ans", ".md"))}
    yield Hostile("archive: ZIP", _zip(good), rows=1)
    yield Hostile("archive: TAR", _tar(good), rows=1)
    yield Hostile("archive: TAR in gzip", gzip.compress(_tar(good), mtime=0), rows=1)
    yield Hostile(
        "archive: names that climb", _zip({f"../../{name}": content for name, content in good.items()}), rows=1
    )
    yield Hostile("archive: names from the root", _tar({f"/{name}": content for name, content in good.items()}), rows=1)
    links = _tar(good, {"p/data/secret/2.in": "/etc/passwd", "p/data/secret/2.ans": "/etc/passwd"})
    yield Hostile("archive: links to files of the machine", links, rows=1)
    left = {**good, **{name.replace("p/", "q/"): content for name, content in without.items()}}
    yield Hostile("archive: a problem without statement", _zip(left), rows=1, warnings=("left_out",))
    unsafe = b"name: !!python/object/apply:os.system ['true']\n"
    for what, content, words, place in (
        ("empty", _zip({}), "without tasks. It is empty", "/file"),
        ("of a data file", _zip({"train.jsonl": GOOD}), "without tasks. It holds `train.jsonl`", "/file"),
        ("a spreadsheet", _zip({"xl/workbook.xml": b"", "[Content_Types].xml": b""}), "a spreadsheet", "/file"),
        ("ZIP cut", _zip(good)[:-30], "cannot be read", "/file"),
        ("TAR cut", _tar(good)[:1200], "", "/file"),
        ("of two formats", _zip({**good, "h/task.toml": b""}), "Kattis problems and Harbor tasks", "/file"),
        (
            "YAML that makes objects",
            _zip({**good, "p/problem.yaml": unsafe}),
            "problem.yaml is not valid YAML",
            "/file/rows/1",
        ),
        (
            "YAML that is a list",
            _zip({**good, "p/problem.yaml": b"- a"}),
            "must contain names and values",
            "/file/rows/1",
        ),
        ("tests that are not UTF-8", _zip({**good, "p/data/secret/1.in": b"\xff"}), "is not UTF-8", "/file/rows/1"),
        (
            "a bomb",
            _zip({**good, "p/data/secret/1.in": b"\0" * (32 * MIB)}),
            "more than 16,777,216 bytes",
            "/file/rows/1",
        ),
        ("only problems that cannot be used", _zip(without), "no rows", "/file"),
    ):
        if words:
            yield refused(f"archive: {what}", content, words, place)
    broken = bytearray(_zip(good))
    broken[46:50] = b"\xff" * 4
    yield refused("archive: a broken member", bytes(broken), "cannot be unpacked", "/file/rows/1")
    yield from _broken_archives(good)
    yield from _descriptions(good)


def _broken_archives(good: dict[str, bytes]) -> Iterator[Hostile]:
    tar = _tar({**good, "p/data/secret/2.in": b"1" * 20_000})
    yield refused("archive: TAR cut in a file", tar[:15_000], "unexpected end of data")
    yield refused("archive: TAR cut between files", tar[:2048], "it has no end")
    rubbish = bytearray(tar)
    rubbish[1024:1536] = b"\xff" * 512
    yield refused("archive: TAR with rubbish for a header", bytes(rubbish), "it has no end")
    pax = tarfile.TarInfo("x")
    pax.type, pax.size = tarfile.XHDTYPE, 100_000
    header = pax.tobuf(tarfile.USTAR_FORMAT)
    yield refused("archive: a header of many digits", header + b"9" * 100_352 + tar, "header of more than 16,384")
    pax.size = 10_240
    few = pax.tobuf(tarfile.USTAR_FORMAT) + b"9" * 10_240
    yield refused("archive: a long number in a header", few + tar, "a number of more than 100 digits")
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", method) as archive:
            for name, content in good.items():
                archive.writestr(name, content)
        words = "another method than Deflate"
        yield refused(f"archive: ZIP with method {method}", file.getvalue(), words, "/file/rows/1")
    one = struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    directory = one * (34 * MIB // len(one))
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0, 0, len(directory), 4, 0)
    yield refused("archive: a ZIP of millions of names", b"PK\3\4" + directory + end, "header of more than 33,554,432")
    nameless = one[:28] + b"\0\0" + one[30:-1]
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, len(nameless), 4, 0)
    yield refused("archive: a file without a name", b"PK\3\4" + nameless + end, "without a name")
    deep = {**good, "p/" + "a/" * 400 + "b": b""}
    yield refused("archive: a path of many folders", _zip(deep), "more than 1,000 characters or 64 folders")
    yield Hostile("archive: two slashes before names", _zip({f"//{name}": part for name, part in good.items()}), rows=1)
    odd = {name.replace("p/", "p\udcff/"): content for name, content in good.items()}
    yield refused("archive: names that are not UTF-8", _tar(odd), "lone surrogates", "/file/rows/1")
    yield refused("archive: a name that is not UTF-8 and no task", _tar({"a\udcff/x.txt": b""}), "`a?/x.txt`")


def _descriptions(good: dict[str, bytes]) -> Iterator[Hostile]:
    laughs = b"a: &a [x, x]\n" + b"".join(b"%c: &%c [%s]\n" % (n + 1, n + 1, b"*%c, " % n * 9) for n in range(97, 107))
    for what, text, words in (
        ("a bomb of aliases", laughs + b"validator_flags: *k", "it contains aliases"),
        ("a tag of another language", b"name: !!python/name:os.system a", "it contains tags"),
        ("many lists in each other", b"a: " + b"[" * 5000, "more than 500 lists"),
        ("lists in each other", b"a: " + b"[" * 450, "nested too deep"),
        ("too much", b"a: b\n" * 4000, "more than 16,384 bytes"),
        ("a time limit of words", b"limits: {time_limit: long}", "time limit must be a number"),
        ("a time limit that is true", b"limits: {time_limit: true}", "time limit must be a number"),
        ("a time limit that is no number", b"limits: {time_limit: .nan}", "time limit must be a number"),
        ("a time limit below zero", b"limits: {time_limit: -1}", "time limit must be a number"),
        ("a tolerance of words", b"validator_flags: float_tolerance x", "float tolerance must be a number"),
        ("an endless tolerance", b"validator_flags: float_tolerance inf", "float tolerance must be a number"),
    ):
        yield refused(f"YAML: {what}", _zip({**good, "p/problem.yaml": text}), words, "/file/rows/1")
    for what, text in (
        ("a number of many digits", b"x: " + b"9" * 5000),
        ("a date that is none", b"x: 2020-99-99"),
        ("a number in sixties", b"x: 1" + b":10" * 3000),
        ("limits as text", b"limits: {time_limit: '2'}"),
        ("no limit", b"limits: {time_limit: }"),
    ):
        yield Hostile(f"YAML: {what}", _zip({**good, "p/problem.yaml": text}), rows=1)
    for what, text, words in (
        ("a key of many parts", b"a." * 4000 + b"a = 1", "a key has more than 30 parts"),
        ("many lists in each other", b"a = " + b"[" * 3000, "nested too deep"),
        ("a number of many digits", b"a = " + b"9" * 5000, "is not valid TOML"),
    ):
        task = {"h/task.toml": text, "h/instruction.md": b"Do it."}
        yield refused(f"TOML: {what}", _zip(task), words, "/file/rows/1")
    prose = b"[metadata]\ntext = '''\n" + b"One. Two. " * 200 + b"\n.....................................\n'''"
    yield Hostile("TOML: prose with many dots", _zip({"h/task.toml": prose, "h/instruction.md": b"Do it."}), rows=1)
    for text in (b"<a ", b"<!--", b"<a b='", b"&#9", b"<"):
        page = {name: content for name, content in good.items() if not name.endswith(".md")}
        page["p/problem_statement/problem.en.html"] = b"Add. " + text * 100_000
        yield Hostile(f"HTML: {text.decode()} without end", _zip(page), rows=1)


def _shapes() -> Iterator[Hostile]:
    for what, row, words in (
        ("GSM8K without its hashes", {"question": "a", "answer": "b"}, "has no `####`"),
        ("GSM8K with nothing behind them", {"question": "a", "answer": "b ####"}, "nothing after the `####`"),
        ("GSM8K without question", {"answer": "#### 1"}, "no `question`"),
        ("GSM8K with an empty question", {"question": " ", "answer": "#### 1"}, "`question` is empty"),
    ):
        yield refused(what, _row(question="q", answer="#### 1") + _row(**row), words, "/file/lines/2")
    yield refused("MATH without box", _row(problem="a", solution="b"), "no \\boxed{}", "/file/lines/1")
    yield refused(
        "MBPP without tests", _row(text="a", code="x = 1", test_list=[]), "list of at least one", "/file/lines/1"
    )
    yield refused(
        "MBPP with broken code", _row(text="a", code="x =", test_list=["x"]), "is not a Python program", "/file/lines/1"
    )
    yield refused(
        "IFEval with too few parameters",
        _row(prompt="a", instruction_id_list=["x", "y"], kwargs=[{}]),
        "one object for each of the 2",
        "/file/lines/1",
    )
    yield refused(
        "verl without truth",
        _row(prompt=[{"role": "user", "content": "a"}], reward_model={}),
        "no `ground_truth`",
        "/file/lines/1",
    )
    yield refused(
        "ShareGPT with odd turns",
        _row(conversations=[{"from": "alien", "value": "a"}]),
        "must be one of",
        "/file/lines/1",
    )
    for what, text in (
        ("NaN", '{"x": NaN}'),
        ("a number beyond floating point", '{"x": 1e999}'),
        ("half an emoji", '{"x": "\\ud83d"}'),
        ("NUL", '{"x": "\\u0000"}'),
        ("many lists in each other", '{"x": ' + "[" * 200 + "]" * 200 + "}"),
        ("a number of many digits", '{"x": ' + "9" * 400 + "}"),
        ("a key twice", '{"x": 1, "x": 2}'),
    ):
        yield refused(f"JSON as text: {what}", _row(question="a", info=text), "`info` is text that", "/file/lines/1")
        chat = f'[{{"role": "user", "content": "a"}}, {text}]'
        yield refused(
            f"a chat as text: {what}", _row(messages=chat), "`messages` must be a chat, and is text", "/file/lines/1"
        )
    yield refused("a rubric without names", _row(query="a", checklist=[{"x": 1}]), "with a `name`", "/file/lines/1")
    tree = {"requirements": "a", "sub_tasks": [{"requirements": "b", "weight": -1}]}
    yield refused(
        "a tree with negative weights", json.dumps(tree, indent=1).encode(), "`weight` of each", "/file/rows/1"
    )
    yield refused("twenty broken rows", GOOD + b"x\n" * 20, "not valid JSON", "/file/lines/2", faults=20)

"""Whatever bytes come in, each line is a row or a named fault, and nothing else happens."""

import json
from io import BytesIO

from hypothesis import assume, example, given
from hypothesis import strategies as st

from dressage.common.api.problems import Problem
from dressage.datasets.files.reading import UploadedRows


@given(st.binary(max_size=300))
@example(b'{"prompt":"\\ud800"}')
@example(b"\xef\xbb\xbf\n\r\r\n")
@example(b"\xfe\xff")
def test_any_bytes(content: bytes) -> None:
    lines = UploadedRows(BytesIO(content))
    rows = list(lines)
    assert lines.rows == len(rows)
    # A file of another format is one fault, or one array: see test_formats.py.
    assume(lines.format is not None and lines.format.name == "jsonl" and not lines.format.packed)
    # A mark of UTF-16 with text behind it is of another format; alone it says nothing, as that of UTF-8 does.
    text = content.removeprefix(b"\xef\xbb\xbf") if content not in (b"\xfe\xff", b"\xff\xfe") else b""
    filled = [line for line in text.split(b"\n") if line.strip(b"\r\n").strip()]
    assert len(rows) + len(lines.errors) == min(len(filled), 100 if lines.errors else len(filled))
    if not rows or lines.errors:
        try:
            lines.raise_errors()
        except Problem as problem:
            assert problem.status == 422
        else:
            raise AssertionError("a file without rows or with faults was accepted")


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(st.lists(st.fixed_dictionaries({"prompt": TEXT.map(lambda text: "p" + text), "extra": TEXT}), min_size=1))
def test_every_row_that_json_can_say_comes_back(rows: list[dict[str, str]]) -> None:
    content = "\n".join(json.dumps(row) for row in rows).encode()
    lines = UploadedRows(BytesIO(content))
    assert [row.data for row in lines] == rows
    lines.raise_errors()

"""Whatever is stored downloads in each format, and uploads again to equal rows with equal ids."""

import json
from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, get_args

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dressage.common.api.problems import Problem
from dressage.datasets.files.reading import UploadedRows
from dressage.datasets.rows.row import check_row
from dressage.datasets.rows.text import sorted_text_of
from dressage.datasets.versions import downloads, storage
from tests.support.about import PLATFORM
from tests.support.hostile_files import hostile_files
from tests.support.odd_values import odd_files
from tests.support.peoples_files import MIXED, lines, peoples_files
from trainer_core.datasets import recognise

FORMATS: tuple[downloads.DownloadFormat, ...] = get_args(downloads.DownloadFormat)
Stored = list[tuple[str, str]]
"""(id, JSON with sorted keys) of each row."""


def store(content: bytes, name: str, folder: Path) -> tuple[bytes, list[str]] | None:
    """The stored file and the names of its columns; None if the file is refused."""
    rows = UploadedRows(BytesIO(content), name)
    path = storage.write(rows.parts(), folder)
    try:
        rows.raise_errors()
        return path.read_bytes(), [column["name"] for column in rows.described_columns()]
    except Problem:
        return None
    finally:
        path.unlink()


def rows_of(file: bytes) -> Stored:
    table = pq.read_table(BytesIO(file)).to_pylist()
    return [(row["id"], sorted_text_of(json.loads(row["row"]))) for row in table]


def returns(file: bytes, columns: list[str], folder: Path, what: str = "") -> None:
    """Assert that each download of a stored file is stored as the same rows."""
    for format in FORMATS:
        content = b"".join(downloads.stream(BytesIO(file), format, columns, None))
        again = store(content, f"rows.{format}", folder)
        assert again is not None, (what, format)
        assert rows_of(again[0]) == rows_of(file), (what, format)


def all_files() -> Iterator[tuple[str, bytes, str]]:
    """Each content once: of people, and of those who mean no good."""
    seen: set[str] = set()
    for file in (*peoples_files(), *odd_files()):
        if (text := json.dumps(file.rows)) not in seen and file.rows:
            seen.add(text)
            yield file.what, file.content, file.name
    for hostile in hostile_files():
        if hostile.place is None and len(hostile.content) < 100_000:
            yield hostile.what, hostile.content, hostile.name


@pytest.mark.expensive(60, "stores 330 files five times each", about=PLATFORM)
def test_every_file_that_is_taken(tmp_path: Path) -> None:
    count = 0
    for what, content, name in all_files():
        stored = store(content, name, tmp_path)
        assert stored is not None, what
        returns(*stored, tmp_path, what)
        count += 1
    assert count >= 330


def test_some_files(tmp_path: Path) -> None:
    for what, content, name in islice(all_files(), 0, None, 24):
        stored = store(content, name, tmp_path)
        assert stored is not None, what
        returns(*stored, tmp_path, what)


def test_rows_that_only_json_holds(tmp_path: Path) -> None:
    stored = store(lines(MIXED), "rows.jsonl", tmp_path)
    assert stored is not None
    assert [json.loads(text) for _, text in rows_of(stored[0])] == MIXED
    returns(*stored, tmp_path)


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
EDGES = st.sampled_from(
    ["", "=1", "'", "''", " x", "null", "1", "[]", '"', "a\r", "\r\n", "::json", "a::escaped", "\ufeff"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS | EDGES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS | EDGES, inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
KEYS = st.sampled_from(["answer_", "x", "y"]) | TEXTS | EDGES
ROWS = st.lists(st.tuples(TEXTS.map("p{}".format), st.dictionaries(KEYS, VALUES, max_size=4)), min_size=1, max_size=4)


def kept_as_it_is(row: dict[str, Any]) -> bool:
    """Whether a row is valid, and of no shape that makes another of it."""
    try:
        return check_row(row) is not None and recognise(row).name == "own"
    except ValueError:
        return False


@pytest.mark.expensive(15, "stores hundreds of files", about=PLATFORM)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(ROWS)
@example([("p", {"a": None}), ("p", {}), ("p", {"a": "null"})])
@example([("p", {"": 1, "column_2": 2})])
@example([("p", {"data": [{"a": 1}], "x": ""})])
def test_any_rows(tmp_path: Path, drawn: list[tuple[str, dict[str, Any]]]) -> None:
    rows = [{"prompt": prompt, **rest} for prompt, rest in drawn]
    rows = [row for row in rows if kept_as_it_is(row)]
    if rows:
        stored = store(lines(rows), "rows.jsonl", tmp_path)
        assert stored is not None
        returns(*stored, tmp_path)


def test_a_row_that_looks_like_a_list_of_rows(tmp_path: Path) -> None:
    """One row of JSON lines whose first column is a list of objects."""
    stored = store(b'{"data": [{"a": 1}], "prompt": "Which?"}\n', "rows.jsonl", tmp_path)
    assert stored is not None
    assert [json.loads(text) for _, text in rows_of(stored[0])] == [{"data": [{"a": 1}], "prompt": "Which?"}]

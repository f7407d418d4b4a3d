"""Formats of uploads: known by content, read in bounded memory, refused as a whole or row by row."""

import gzip
import json
from io import BytesIO
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dressage.common.api.problems import Problem
from dressage.datasets.files import json_array, packing
from dressage.datasets.files.json_array import numbered_elements
from dressage.datasets.files.reading import UploadedRows
from dressage.datasets.limits import MAX_ROW_BYTES

ROWS = [{"prompt": "a", "x": ["]", '"', {"y": "[{,\\"}]}, {"prompt": "b\n", "answer": "é"}]
ARRAY = json.dumps(ROWS, indent=2, ensure_ascii=False).encode()
LINES = "\n".join(map(json.dumps, ROWS)).encode()


def read(content: bytes) -> tuple[list[dict[str, Any]], UploadedRows]:
    reader = UploadedRows(BytesIO(content))
    return [row.data for row in reader], reader


def faults(content: bytes) -> list[tuple[str, str]]:
    _, reader = read(content)
    with pytest.raises(Problem) as caught:
        reader.raise_errors()
    assert (caught.value.status, caught.value.code) == (422, "invalid_dataset")
    return [(error["pointer"], error["detail"]) for error in reader.errors]


def packed(content: bytes) -> bytes:
    """The same bytes at any time: the test's name is made of them, and every process has to find the same tests."""
    return gzip.compress(content, mtime=0)


@pytest.mark.parametrize(
    ("content", "name", "packed"),
    [
        (LINES, "jsonl", False),
        (ARRAY, "json", False),
        (b"\xef\xbb\xbf\n  " + ARRAY + b"\n ", "json", False),
        (json.dumps(ROWS).encode(), "json", False),
        (packed(LINES), "jsonl", True),
        (packed(ARRAY), "json", True),
        (packed(LINES[:10]) + packed(LINES[10:]), "jsonl", True),
    ],
)
def test_formats_are_known_by_content(content: bytes, name: str, packed: bool) -> None:
    rows, reader = read(content)
    reader.raise_errors()
    assert rows == ROWS
    assert reader.format is not None
    assert (reader.format.name, reader.format.packed) == (name, packed)


@pytest.mark.parametrize(
    ("content", "detail"),
    [
        (b"PAR1rest", "This is a Parquet file that cannot be read: "),
        (b"PK\x03\x04rest", "This is a ZIP archive that cannot be read: File is not a zip file."),
        (b"\x28\xb5\x2f\xfdrest", "The file cannot be unpacked: "),
        ("x".encode("utf-32"), "This is text in UTF-32."),
        (b"version https://git-lfs.github.com/spec/v1\n", "This is a pointer of Git LFS, not the file that it stands"),
        (packed(b"PAR1"), "This is a Parquet file that cannot be read: "),
        (packed(packed(LINES)), "This is a file that is packed twice."),
        (b"\x1f\x8brest-of-it", "The file cannot be unpacked: Unknown compression method."),
        (packed(LINES)[:-9], "The file cannot be unpacked: Compressed file ended before"),
        (packed(LINES)[:-8] + b"\0" * 8, "The file cannot be unpacked: CRC check failed"),
        (b"", "The file has no rows."),
        (b"[]", "The file has no rows."),
        (b"[ \n ]", "The file has no rows."),
        (packed(b""), "The file has no rows."),
        (b"[", "The array is not closed: the file ends after 0 whole rows. It may be cut off."),
        (ARRAY[:-1], "The array is not closed: the file ends after 1 whole rows. It may be cut off."),
        (ARRAY + b"x", "There is more behind the end of the array."),
        (ARRAY + b" " * (1 << 17) + b"[]", "There is more behind the end of the array."),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_files_that_are_refused_as_a_whole(content: bytes, detail: str) -> None:
    ((pointer, told),) = faults(content)
    assert pointer == "/file"
    assert told.startswith(detail)


def test_faulty_rows_of_an_array_are_all_named() -> None:
    content = b'[{"prompt": "a"}, 1, {"prompt": }, {"prompt": ""},, {"prompt": "b"}, {"prompt":\n\n"c" 1}, ]'
    assert faults(content) == [
        ("/file/rows/2", "A row must be a JSON object, not number."),
        ("/file/rows/3", "The row is not valid JSON: Expecting value at column 12."),
        ("/file/rows/4", "`prompt` is empty."),
        ("/file/rows/5", "The row is not valid JSON: Expecting value at column 1."),
        ("/file/rows/7", "The row is not valid JSON: Expecting ',' delimiter at line 3 of the row, column 5."),
        ("/file/rows/8", "The row is not valid JSON: Expecting value at column 1."),
    ]


def test_an_element_that_is_too_long_is_told_and_left() -> None:
    rows, reader = read(b'[{"prompt": "' + b"a" * MAX_ROW_BYTES + b'"}, {"prompt": "b"}]')
    assert rows == [{"prompt": "b"}]
    assert [error["detail"] for error in reader.errors] == ["The row is longer than 1,048,576 bytes."]


def test_memory_is_bounded_for_an_array_without_end() -> None:
    class Endless:
        left = 100 << 20

        def read(self, size: int) -> bytes:
            assert size <= 1 << 16
            first, self.left = self.left == 100 << 20, self.left - size
            return (b"[" if first else b"") + b"x" * (size - first) if self.left > 0 else b""

    with pytest.raises(ValueError, match="after 0 whole rows"):
        list(numbered_elements(Endless()))  # type: ignore[arg-type]


def test_a_small_file_that_unpacks_to_a_large_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "MAX_FILE_BYTES", 1 << 20)
    for content in (b"x" * (2 << 20), b"[" + b" " * (2 << 20), b'{"prompt": "a"}\n' * (1 << 17)):
        told = faults(packed(content))
        assert ("/file", "The file unpacks to more than 1,048,576 bytes.") in told


JSON = st.recursive(
    st.none() | st.integers(-9, 9) | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('"\\[]{},é'), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # the machine may be busy
@given(st.lists(JSON, min_size=1), st.sampled_from([None, 1]), st.booleans(), st.integers(1, 9))
@example(['\\"', "]"], None, False, 1)
def test_elements_are_cut_where_the_parser_cuts_them(
    values: list[Any], indent: int | None, ascii_only: bool, chunk: int
) -> None:
    text = json.dumps(values, indent=indent, ensure_ascii=ascii_only).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_array, "_CHUNK", chunk)
        found = list(numbered_elements(BytesIO(text)))
    assert [json.loads(piece or b"") for _, piece in found] == values
    assert [number for number, _ in found] == list(range(1, len(values) + 1))


@given(st.binary(max_size=200).map(lambda content: b"[" + content))
def test_any_bytes_behind_a_bracket(content: bytes) -> None:
    rows, reader = read(content)
    try:
        wanted = json.loads(content)
    except ValueError:
        wanted = []
    if not wanted:
        with pytest.raises(Problem):
            reader.raise_errors()
    assert reader.rows == len(rows)

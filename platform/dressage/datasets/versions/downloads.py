"""Downloads of a version's rows in the upload formats, streamed in constant memory.

Integers are written exactly, whatever their size. An upload of any of these files has the same rows, with the same ids.
Only a raw CSV file is an exception: its cells do not say what they were.
"""

import csv
import io
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from dressage.datasets.files import cells
from dressage.datasets.files.parquet import ABSENT, AS_JSON, has

DownloadFormat = Literal["jsonl", "json", "csv", "parquet"]
CONTENT_TYPES: dict[DownloadFormat, str] = {
    "jsonl": "application/jsonl",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}
Packing = Literal["gzip", "zstd"]
PACKED: dict[Packing, tuple[str, str]] = {"gzip": ("application/gzip", ".gz"), "zstd": ("application/zstd", ".zst")}
"""(content type, file extension) of packed files."""
_EXACT_IN_DOUBLE = 2**53
_INT64 = range(-(2**63), 2**63)
_CHAT = pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))


def stream(
    file: BinaryIO, format: DownloadFormat, columns: list[str], packing: Packing | None, *, raw: bool = False
) -> Iterator[bytes]:
    """The rows of a stored file in the given format, packed if requested.

    Args:
        file: the stored file, open.
        format: output format.
        columns: names of all columns of the rows, in the order of tables.
        packing: packing of the output; None for none.
        raw: CSV with plain names and the texts as they are, also if a spreadsheet would take them for formulas.
    """
    writers: dict[DownloadFormat, Callable[[], Iterator[bytes]]] = {
        "jsonl": lambda: _jsonl(file),
        "json": lambda: _json(file),
        "csv": lambda: _raw_csv(file, columns) if raw else _csv(file, columns),
        "parquet": lambda: _parquet(file, columns),
    }
    pieces = writers[format]()
    match packing:
        case "gzip":
            return _gzip(pieces)
        case "zstd":
            return _zstd(pieces)
    return pieces


def _texts(file: BinaryIO) -> Iterator[list[str]]:
    """The JSON of the rows, one row group at a time."""
    with pq.ParquetFile(file) as opened:
        for group in range(opened.num_row_groups):
            yield opened.read_row_group(group, columns=["row"]).column("row").to_pylist()


def _jsonl(file: BinaryIO) -> Iterator[bytes]:
    for texts in _texts(file):
        yield ("\n".join(texts) + "\n").encode()


def _json(file: BinaryIO) -> Iterator[bytes]:
    between = "[\n"
    for texts in _texts(file):
        yield (between + ",\n".join(texts)).encode()
        between = ",\n"
    yield b"\n]\n"


def _csv(file: BinaryIO, columns: list[str]) -> Iterator[bytes]:
    """Cells from which the rows can be read again; ``files.cells`` explains the header."""
    kinds = _cell_kinds(file, columns)
    writers: dict[cells.CellKind, Callable[[Any], str]] = {"text": str, "escaped": cells.escaped, "json": _compact}

    def line(row: dict[str, Any]) -> list[str]:
        return [writers[kinds[name]](row[name]) if name in row else "" for name in columns]

    return _table(file, [cells.header_cell(name, kinds[name]) for name in columns], line)


def _cell_kinds(file: BinaryIO, columns: list[str]) -> dict[str, cells.CellKind]:
    kinds: dict[str, set[str]] = {name: set() for name in columns}
    present: Counter[str] = Counter()
    rows = 0
    for texts in _texts(file):
        rows += len(texts)
        for text in texts:
            row = json.loads(text)
            present.update(row.keys())  # a mapping would be added by its values
            for name, value in row.items():
                kinds[name].add(cells.kind_of_value(value))
    return {name: cells.cell_kind(found) if present[name] == rows else "json" for name, found in kinds.items()}


def _raw_csv(file: BinaryIO, columns: list[str]) -> Iterator[bytes]:
    """Texts unchanged, null as empty, everything else as JSON."""
    return _table(file, columns, lambda row: [_cell(row.get(name)) for name in columns])


def _table(file: BinaryIO, header: list[str], line: Callable[[dict[str, Any]], list[str]]) -> Iterator[bytes]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(header)
    for texts in _texts(file):
        for text in texts:
            writer.writerow(line(json.loads(text)))
        yield buffer.getvalue().encode()
        buffer.seek(0)
        buffer.truncate()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else _compact(value)


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _parquet(file: BinaryIO, columns: list[str]) -> Iterator[bytes]:
    """One column per key of the rows. If the rows share no plain type for it, its values are written as JSON text.

    The metadata of a field says so, and whether null stands for a key that a row does not have.
    """
    schema = _schema(file, columns)
    buffer = io.BytesIO()
    with pq.ParquetWriter(pa.PythonFile(_WriteOnly(buffer), "w"), schema, compression="zstd") as writer:
        for texts in _texts(file):
            rows = [json.loads(text) for text in texts]
            arrays = [pa.array([_value(row, field) for row in rows], field.type) for field in schema]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            yield _drained(buffer)
    yield _drained(buffer)


class _WriteOnly(io.RawIOBase):
    """A file that passes on what is written, and counts the bytes."""

    def __init__(self, buffer: io.BytesIO) -> None:
        self._buffer, self._written = buffer, 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        size = self._buffer.write(data)
        self._written += size
        return size

    def tell(self) -> int:
        return self._written


def _drained(buffer: io.BytesIO) -> bytes:
    data = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return data


def _schema(file: BinaryIO, columns: list[str]) -> pa.Schema:
    kinds: dict[str, set[str]] = {name: set() for name in columns}
    present: Counter[str] = Counter()
    count = 0
    for texts in _texts(file):
        count += len(texts)
        for text in texts:
            row = json.loads(text)
            present.update(row.keys())  # a mapping would be added by its values
            for name, value in row.items():
                kinds[name].add(_kind(value))
    return pa.schema([_field(name, found, absent=present[name] < count) for name, found in kinds.items()])


def _field(name: str, kinds: set[str], *, absent: bool) -> pa.Field:
    """The field of a column. ``absent``: some rows do not have it."""
    types: dict[frozenset[str], pa.DataType] = {
        frozenset(): pa.string(),
        frozenset({"text"}): pa.string(),
        frozenset({"boolean"}): pa.bool_(),
        frozenset({"whole"}): pa.int64(),
        frozenset({"whole", "large"}): pa.int64(),
        frozenset({"large"}): pa.int64(),
        frozenset({"real"}): pa.float64(),
        frozenset({"texts"}): pa.list_(pa.string()),
        frozenset({"texts", "empty"}): pa.list_(pa.string()),
        frozenset({"chat"}): _CHAT,
    }
    found = types.get(frozenset(kinds - {"null"}))
    if "null" in kinds and absent:
        found = None  # null is written as JSON, so that it differs from what is not there
    metadata = {**({} if found is not None else AS_JSON), **(ABSENT if absent else {})}
    return pa.field(name, pa.string() if found is None else found, metadata=metadata or None)


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            if value not in _INT64:
                return "json"
            return "whole" if abs(value) <= _EXACT_IN_DOUBLE else "large"
        case float():
            return "real"
        case str():
            return "text"
        case []:
            return "empty"
        case list() if all(isinstance(one, str) for one in value):
            return "texts"
        case list() if all(_is_message(one) for one in value):
            return "chat"
    return "json"


def _is_message(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"role", "content"}
        and all(isinstance(one, str) for one in value.values())
    )


def _value(row: dict[str, Any], field: pa.Field) -> Any:
    value = row.get(field.name)
    if not has(field, AS_JSON) or (value is None and not (has(field, ABSENT) and field.name in row)):
        return value
    return _compact(value)


def _gzip(pieces: Iterable[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(6, wbits=31)
    for piece in pieces:
        if packed := packer.compress(piece):
            yield packed
    yield packer.flush()


def _zstd(pieces: Iterable[bytes]) -> Iterator[bytes]:
    buffer = io.BytesIO()
    with pa.CompressedOutputStream(pa.PythonFile(_WriteOnly(buffer), "w"), "zstd") as packer:
        for piece in pieces:
            packer.write(piece)
            if packed := _drained(buffer):
                yield packed
    yield _drained(buffer)

"""Rows of Parquet files, read batch by batch. Nested columns become JSON, and numbers are preserved.

Downloads mark the fields whose values Parquet cannot hold as they are (``AS_JSON``, ``ABSENT``).
"""

import datetime
import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dressage.common.api.strict_json import check, loads
from dressage.datasets.files.ahead import ahead
from dressage.datasets.files.columnar.batches import source_of
from dressage.datasets.files.columnar.source import RowBlock, SourceRows
from dressage.datasets.files.faults import FileFaultError
from dressage.datasets.files.records import Record, Records
from dressage.datasets.limits import MAX_COLUMNS, MAX_DEPTH, MAX_FILE_BYTES, MAX_ROW_BYTES, MAX_ROWS

_BATCH_ROWS, _BATCH_ROWS_OF_LARGE = 1024, 128
_READ_ROWS = 16 * _BATCH_ROWS
"""Number of rows whose distinct texts are collected together. Doing that per batch would take most of the time."""
_FEW_ROWS = 32
_SMALL_GROUP = 64 << 20
"""Maximum size of a row group whose distinct texts may all be in memory."""
_BUFFER = 1 << 20
_BYTES = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)
_TEXTS = (pa.types.is_string, pa.types.is_large_string)
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_NO_VALUES = (ValueError, OverflowError, KeyError, pa.ArrowException)
"""Exceptions for values that Python cannot represent."""
_CERTAINLY_LONG = 8 * MAX_ROW_BYTES
"""Size in memory that no acceptable row reaches."""
_TOO_LONG = f"The row is longer than {MAX_ROW_BYTES:,} bytes."
_LEAVES = 2_000
_NAMES = 200
AS_JSON = {"as": "json"}
"""Metadata of a field: its texts are the JSON of the values."""
ABSENT = {"null": "missing"}
"""Metadata of a field: null stands for a row that does not have this key."""


def has(field: pa.Field, mark: dict[str, str]) -> bool:
    """Whether a field has a mark in its metadata."""
    ((name, value),) = mark.items()
    return (field.metadata or {}).get(name.encode()) == value.encode()


def blocks(file: BinaryIO) -> Iterator[RowBlock]:
    """The rows of a seekable file, in batches.

    Raises:
        FileFaultError: the file cannot be read, or exceeds the limits according to its metadata or its unpacked
            content.
    """
    try:
        # Columns are read page by page, and repeated text is kept once, so a file cannot unpack to much at a time.
        texts = _require_bounded(pq.ParquetFile(file, buffer_size=_BUFFER, pre_buffer=False))
        nested = [path for path in texts if "." in path]
        plain = pq.ParquetFile(file, buffer_size=_BUFFER, pre_buffer=False, read_dictionary=nested)
        with pq.ParquetFile(file, buffer_size=_BUFFER, pre_buffer=False, read_dictionary=texts) as opened:
            yield from _blocks(plain, opened)
    except (FileFaultError, MemoryError):
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # a disk error, not a fault of the content
        told = str(error).splitlines()[0][:300].rstrip(".")
        raise FileFaultError(f"This is a Parquet file that cannot be read: {told}. It may be cut off.") from error


def _require_bounded(opened: pq.ParquetFile) -> list[str]:
    """Refuse files that exceed the limits. Returns the paths of the text columns."""
    about, schema = opened.metadata, opened.schema_arrow
    if about.num_rows > MAX_ROWS:
        raise FileFaultError(f"The file has more than {MAX_ROWS:,} rows.")
    if len(schema) > MAX_COLUMNS:
        raise FileFaultError(f"The file has more than {MAX_COLUMNS} different columns.")
    if about.num_columns > _LEAVES:
        raise FileFaultError(f"The columns of the file have more than {_LEAVES:,} parts.")
    names = schema.names
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise FileFaultError(f"The file names the column `{doubled[:_NAMES]}` twice.")
    size = sum(about.row_group(group).total_byte_size for group in range(about.num_row_groups))
    if size > MAX_FILE_BYTES:
        raise FileFaultError(f"The file unpacks to more than {MAX_FILE_BYTES:,} bytes.")
    for field in schema:
        if "\0" in field.name:
            raise FileFaultError("The name of a column holds a NUL character.")
        _require_kind(field.type, field.name, 1)
    return [
        column.path
        for column in (about.schema.column(place) for place in range(len(about.schema)))
        if column.physical_type == "BYTE_ARRAY"
    ]


def _require_kind(kind: pa.DataType, name: str, depth: int) -> None:
    """Refuse binary columns and columns that are nested too deeply. Raises FileFaultError."""
    if depth > MAX_DEPTH:
        raise FileFaultError(f"The column `{name[:_NAMES]}` is nested deeper than {MAX_DEPTH} levels.")
    if any(is_bytes(kind) for is_bytes in _BYTES):
        raise FileFaultError(
            f"The column `{name[:_NAMES]}` holds bytes, such as images. Rows are text: remove it, or write it as text."
        )
    for place in range(kind.num_fields):
        _require_kind(kind.field(place).type, name, depth + 1)


def _blocks(opened: pq.ParquetFile, repeated: pq.ParquetFile) -> Iterator[RowBlock]:
    """Batches. Row groups with a small declared size are read from ``repeated``, which keeps repeated text once."""
    number = decoded = 0
    for group in range(opened.num_row_groups):
        small = opened.metadata.row_group(group).total_byte_size <= _SMALL_GROUP
        reader, size = (repeated, _READ_ROWS) if small else (opened, _BATCH_ROWS_OF_LARGE)
        for read in ahead(reader.iter_batches(batch_size=size, row_groups=[group], use_threads=False)):
            for start in range(0, len(read), _BATCH_ROWS):
                batch = read.slice(start, _BATCH_ROWS)
                sizes, nested = _sizes(batch)
                decoded += int(sizes.sum()) + nested
                if decoded > MAX_FILE_BYTES:
                    raise FileFaultError(f"The file unpacks to more than {MAX_FILE_BYTES:,} bytes.")
                yield BatchBlock(batch, number, sizes, nested)
                number += len(batch)


class BatchBlock:
    """A batch that follows ``before`` other rows. ``sizes`` and ``nested`` come from ``_sizes``."""

    def __init__(
        self, batch: pa.RecordBatch, before: int, sizes: "np.ndarray[Any, np.dtype[np.int64]]", nested: int
    ) -> None:
        self._batch, self._before, self._sizes, self._nested = batch, before, sizes, nested
        # A single row may account for all nested data of the batch.
        self._largest = int(sizes.max(initial=0)) + nested

    def source(self) -> SourceRows | None:
        """The rows; None if one may be too long, or a value is irregular."""
        if self._largest > MAX_ROW_BYTES or any(
            has(field, AS_JSON) or has(field, ABSENT) for field in self._batch.schema
        ):
            return None
        return source_of(self._batch, int(self._sizes.sum()) + self._nested)

    def taken(self) -> None:
        """Does nothing: batches share no state."""

    def records(self) -> Records:
        """Yield the rows one by one."""
        if self._largest <= _CERTAINLY_LONG:
            yield from _records(self._batch, self._before, short=self._largest <= MAX_ROW_BYTES)
        else:
            for place in range(len(self._batch)):
                yield from _one_record(self._batch.slice(place, 1), self._before + place)

    def halves(self) -> Sequence[RowBlock]:
        """The two halves, if there are more than a few rows."""
        middle = len(self._batch) // 2
        if middle < _FEW_ROWS or self._largest > MAX_ROW_BYTES:
            return ()
        parts = ((self._batch.slice(0, middle), self._before), (self._batch.slice(middle), self._before + middle))
        return [BatchBlock(part, before, *_sizes(part)) for part, before in parts]


def _one_record(batch: pa.RecordBatch, before: int) -> Records:
    """The row of a batch of one. A row that is far too long is only reported, not built."""
    sizes, nested = _sizes(batch)
    if int(sizes.sum()) + nested > _CERTAINLY_LONG:
        yield Record(before + 1, ValueError(_TOO_LONG))
    else:
        yield from _records(batch, before, short=False)


def _records(batch: pa.RecordBatch, before: int, *, short: bool) -> Records:
    """The rows of a batch that follows ``before`` others. ``short``: no row can exceed the maximum length."""
    converted = [field.name for field in batch.schema if not _is_json(field.type)]
    as_json = [field.name for field in batch.schema if has(field, AS_JSON) and _is_json(field.type)]
    absent = [field.name for field in batch.schema if has(field, ABSENT)]
    clean = short and not as_json and _has_only_text(batch)
    for number, data in enumerate(_values(batch), before + 1):
        plain = _Json()
        try:
            for name in converted:
                data[name] = plain.of(data[name])
            for name in absent:
                if data[name] is None:
                    del data[name]
            for name in as_json:
                if isinstance(text := data.get(name), str):
                    data[name] = _parsed(text, name)
            if not short and _size(data) > MAX_ROW_BYTES:
                raise ValueError(_TOO_LONG)
            if not clean:
                check(data, MAX_DEPTH)
            yield Record(number, data, plain.nan)
        except ValueError as error:
            yield Record(number, error)


def _parsed(text: str, name: str) -> Any:
    try:
        return loads(text, MAX_DEPTH)
    except json.JSONDecodeError as error:
        shown = f"`{name[:_NAMES]}`"
        raise ValueError(f"The file declares {shown} as JSON, and this value is none: {error.msg}.") from error


def _values(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """The rows of a batch. Raises FileFaultError for text that is not UTF-8."""
    try:
        return batch.to_pylist()
    except _NO_VALUES:
        columns = {name: _column(column, name) for name, column in zip(batch.schema.names, batch.columns, strict=True)}
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _column(column: pa.Array, name: str) -> list[Any]:
    """The values of a column, with text for times that Python cannot represent. Raises FileFaultError."""
    try:
        return column.to_pylist()
    except _NO_VALUES:
        pass
    try:
        return [_value(scalar) for scalar in column]
    except _NO_VALUES as error:
        raise FileFaultError(f"The column `{name[:_NAMES]}` cannot be read. Text must be UTF-8.") from error


def _value(scalar: pa.Scalar) -> Any:
    """A value for Python. Times that it cannot represent become text, with all their digits, in UTC if they have a
    zone."""
    try:
        return scalar.as_py()
    except _NO_VALUES:
        kind = scalar.type
        if pa.types.is_dictionary(kind):
            return _value(scalar.value)
        if pa.types.is_struct(kind):
            return {field.name: _value(scalar[place]) for place, field in enumerate(kind)}
        if pa.types.is_map(kind):
            return [(_value(pair[0]), _value(pair[1])) for pair in scalar.values]
        if pa.types.is_nested(kind):
            return [_value(one) for one in scalar.values]
        if pa.types.is_duration(kind):
            return scalar.value / _PER_SECOND[kind.unit]
        if not pa.types.is_temporal(kind):
            raise
        if pa.types.is_timestamp(kind) and kind.tz is not None:
            text: str = scalar.cast(pa.timestamp(kind.unit)).cast(pa.string()).as_py()
            return f"{text.replace(' ', 'T')}Z"
        return str(scalar.cast(pa.string()).as_py()).replace(" ", "T")


def _sizes(batch: pa.RecordBatch) -> tuple["np.ndarray[Any, np.dtype[np.int64]]", int]:
    """(bytes of each row's texts, bytes of all other columns together). Repeated texts count each time."""
    sizes, others = np.zeros(len(batch), dtype=np.int64), 0
    for column in batch.columns:
        if _is_dictionary_of_text(column.type):
            lengths = pc.take(pc.binary_length(column.dictionary), column.indices)
        elif pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            lengths = pc.binary_length(column)
        else:
            others += _bytes_inside(column)
            continue
        sizes += pc.fill_null(lengths, 0).to_numpy(zero_copy_only=False).astype(np.int64)
    return sizes, others


def _bytes_inside(column: pa.Array) -> int:
    kind = column.type
    if _is_dictionary_of_text(kind):
        return pc.sum(pc.take(pc.binary_length(column.dictionary), column.indices)).as_py() or 0
    if pa.types.is_struct(kind):
        return sum(map(_bytes_inside, column.flatten()))
    if pa.types.is_map(kind):
        first, end = column.offsets[0].as_py(), column.offsets[-1].as_py()
        return 4 * len(column) + sum(
            _bytes_inside(part.slice(first, end - first)) for part in (column.keys, column.items)
        )
    if kind.num_fields:
        return 4 * len(column) + _bytes_inside(column.flatten())
    return int(column.nbytes)


def _is_dictionary_of_text(kind: pa.DataType) -> bool:
    return pa.types.is_dictionary(kind) and any(is_text(kind.value_type) for is_text in _TEXTS)


def _has_only_text(batch: pa.RecordBatch) -> bool:
    """Whether all columns are flat, and no text contains a NUL character."""
    for column in batch.columns:
        texts = column.dictionary if pa.types.is_dictionary(column.type) else column
        if texts.type.num_fields or pa.types.is_floating(texts.type) or pa.types.is_string_view(texts.type):
            return False
        if any(is_text(texts.type) for is_text in _TEXTS) and pc.any(pc.match_substring(texts, "\0")).as_py():
            return False
    return True


def _size(value: Any) -> int:
    """Approximate length of a value as JSON, never too large."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return 2 + sum(len(str(key)) + 4 + _size(inner) for key, inner in value.items())
    return 2 + sum(1 + _size(inner) for inner in value) if isinstance(value, list) else 1


def _is_json(kind: pa.DataType) -> bool:
    """Whether the values of a column are valid JSON without conversion."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    plain = (pa.types.is_string, pa.types.is_large_string, pa.types.is_integer, pa.types.is_boolean, pa.types.is_null)
    return any(is_plain(kind) for is_plain in plain)


class _Json:
    """Converts the values of one row to JSON."""

    def __init__(self) -> None:
        self.nan = False
        """Whether a NaN was read as null."""

    def of(self, value: Any) -> Any:
        """A value as JSON. Raises ValueError."""
        match value:
            case float() if math.isnan(value):
                self.nan = True
                return None
            case None | str() | bool() | int() | float():
                return value
            case list():
                # Read maps as lists of pairs.
                return self._object(value) if value and isinstance(value[0], tuple) else [*map(self.of, value)]
            case dict():
                return {name: self.of(inner) for name, inner in value.items()}
            case datetime.date() | datetime.time():
                return value.isoformat()
            case datetime.timedelta():
                return value.total_seconds()
        return str(value)  # includes decimal numbers, which are exact as text

    def _object(self, pairs: list[tuple[Any, Any]]) -> dict[str, Any]:
        made = {str(key): self.of(value) for key, value in pairs}
        if len(made) < len(pairs):
            raise ValueError("A map of the row has one key twice.")
        return made

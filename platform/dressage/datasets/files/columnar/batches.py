"""Values of a Parquet batch, column by column."""

import math
from typing import Any

import pyarrow as pa

from dressage.datasets.files.columnar.column import gather_texts
from dressage.datasets.files.columnar.source import SourceRows

_FLAT = (
    pa.types.is_string, pa.types.is_large_string, pa.types.is_integer, pa.types.is_boolean, pa.types.is_null,
    pa.types.is_floating,
)  # fmt: skip
_LISTS = (pa.types.is_list, pa.types.is_large_list)
_MOST_BYTES = 64 << 20


def source_of(batch: pa.RecordBatch, size: int) -> SourceRows | None:
    """The rows of a batch of ``size`` bytes; None if a value is irregular or its type does not exist in JSON."""
    schema = batch.schema
    if size > _MOST_BYTES or not all(_is_plain(kind) for kind in schema.types) or "\0" in str(schema):
        return None
    columns: dict[str, list[Any]] = {}
    for name, column in zip(schema.names, batch.columns, strict=True):
        try:
            values = _values(column)
        except (ValueError, OverflowError, pa.ArrowException):
            return None
        if values is None:
            return None
        columns[name] = values
    names = tuple(schema.names)

    def rows() -> list[dict[str, Any]]:
        return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    return SourceRows(names, columns, rows) if names else None


def _is_plain(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if any(is_flat(kind) for is_flat in _FLAT):
        return True
    if pa.types.is_struct(kind) or any(is_list(kind) for is_list in _LISTS):
        return all(_is_plain(kind.field(place).type) for place in range(kind.num_fields))
    return False


def _values(column: pa.Array) -> list[Any] | None:
    """The values; None if one is not finite, or contains a NUL character."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    values: list[Any] = column.to_pylist()
    if column.type.num_fields:
        found: list[str] = []
        sound = all([gather_texts(value, found) for value in values])
        return values if sound and "\0" not in "\n".join(found) else None
    if pa.types.is_floating(column.type):
        return values if all([value is None or math.isfinite(value) for value in values]) else None
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return None if "\0" in "\n".join([value for value in values if value is not None]) else values
    return values

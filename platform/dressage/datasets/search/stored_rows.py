"""Stored rows with their original JSON text, in which integers are exact."""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dressage.datasets.rows import ids as row_ids


@dataclass(frozen=True, slots=True)
class StoredRow:
    """One stored row."""

    number: int
    id: str
    text: str
    """The whole row as JSON."""
    row: dict[str, Any]
    answer: str | None


def read(path: Path, numbers: Collection[int]) -> list[StoredRow]:
    """Rows by number, in order. Numbers beyond the end are skipped. Reads each row group at most once."""
    found: list[StoredRow] = []
    wanted, start = sorted(set(numbers)), 0
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group).num_rows
            here = [number - start for number in wanted if start <= number < start + size]
            if here:
                found += of_table(file.read_row_group(group).take(here), [start + place for place in here])
            start += size
    return found


def groups(path: Path, start: int, mask: np.ndarray | None = None) -> Iterator[tuple[int, pa.Table]]:
    """(number of its first row, table) for each row group with rows from ``start`` on that the mask allows.

    ``mask`` is bool of shape [rows]; None allows all rows. Row groups without any allowed row are not read.
    """
    first = 0
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group).num_rows
            here = slice(max(first, start), first + size)
            if here.start < here.stop and (mask is None or mask[here].any()):
                yield first, file.read_row_group(group)
            first += size


def of_table(table: pa.Table, numbers: Collection[int]) -> list[StoredRow]:
    """The rows of a table of ``storage.SCHEMA``, or of an older schema whose rows had no ids."""
    texts, answers = table["row"].to_pylist(), table["answer"].to_pylist()
    rows = [json.loads(text) for text in texts]
    ids = table["id"].to_pylist() if "id" in table.column_names else [row_ids.content_id(row) for row in rows]
    return [StoredRow(*one) for one in zip(numbers, ids, texts, rows, answers, strict=True)]

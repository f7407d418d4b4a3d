"""Values that row filters offer: those of columns, scripts and notes in a sample spread over the version."""

from collections import Counter
from typing import Any, Literal

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
from typing_extensions import TypedDict

from dressage.datasets.models import DatasetVersion, RowNotes
from dressage.datasets.rows.facts import script_of, tags_of, text_of
from dressage.datasets.search.replaced import read_again
from dressage.datasets.search.stored_rows import of_table
from dressage.datasets.versions import notes

SAMPLE = 2_000
GROUPS = 8
"""Number of row groups to sample, so that a large version is not read completely."""
MOST_VALUES = 50
"""Maximum number of values offered per column. A column with more in the sample, such as an id, is not offered."""


class RowValue(TypedDict):
    """A value and its number of rows in the sample."""

    value: str
    rows: int


class ColumnValues(TypedDict):
    """Values of a column, the most frequent first."""

    name: str
    """Column of the rows. For notes `notes.column`, such as `answers.type`."""
    values: list[RowValue]


class RowValues(TypedDict):
    """Values that row filters can offer."""

    columns: list[ColumnValues]
    """Columns of short values with few distinct ones."""
    scripts: list[RowValue]
    notes: list[ColumnValues]
    """Columns of notes that contain text with few distinct values, in the sampled row groups."""
    rows: int
    """Number of rows from which the values of columns and scripts were taken."""
    of: Literal["all", "sample"]


def row_values(version: DatasetVersion) -> RowValues:
    """Values that filters for a version's rows can offer.

    Raises:
        FileNotFoundError: the file of the rows no longer exists.
    """
    rows = _sample(version)
    tags = Counter(tag for row in rows for tag in tags_of(row))
    columns: dict[str, list[RowValue]] = {}
    for tag, count in tags.most_common():
        column, _, value = tag.partition("=")
        columns.setdefault(column, []).append({"value": value, "rows": count})
    offered: list[ColumnValues] = [
        {"name": name, "values": values} for name, values in sorted(columns.items()) if _is_a_choice(values)
    ]
    return {
        "columns": offered,
        "scripts": _counted(Counter(script_of(text_of(row)) for row in rows)),
        "notes": read_again(lambda: [found for one in notes.of(version) for found in _of_notes(one)]),
        "rows": len(rows),
        "of": "all" if len(rows) == version.rows else "sample",
    }


def _sample(version: DatasetVersion) -> list[dict[str, Any]]:
    """Sample of at most ``SAMPLE`` rows, spread evenly over at most ``GROUPS`` row groups of the version."""
    found: list[dict[str, Any]] = []
    with pq.ParquetFile(version.path) as file:
        chosen, left = _spread(file), SAMPLE
        for place, group in enumerate(chosen):
            size = file.metadata.row_group(group).num_rows
            share = min(left // (len(chosen) - place), size)
            numbers = np.linspace(0, size - 1, share).astype(int).tolist()
            found += [one.row for one in of_table(file.read_row_group(group).take(numbers), numbers)]
            left -= share
    return found


def _of_notes(one: RowNotes) -> list[ColumnValues]:
    texts = [column["name"] for column in one.columns if column["type"] == "string"]
    if not texts:
        return []
    with pq.ParquetFile(one.path) as file:
        table = file.read_row_groups(_spread(file), columns=texts)
    found: list[ColumnValues] = []
    for name in texts:
        counted = pc.value_counts(table[name].drop_null()).to_pylist()
        values = _counted(Counter({pair["values"]: pair["counts"] for pair in counted}))
        if 0 < len(values) <= MOST_VALUES:
            found.append({"name": f"{one.name}.{name}", "values": values})
    return found


def _spread(file: pq.ParquetFile) -> list[int]:
    """Row groups, at most ``GROUPS``, spread evenly over the file."""
    count = min(GROUPS, file.num_row_groups)
    return [int(group) for group in np.linspace(0, file.num_row_groups - 1, count)]


def _counted(counts: Counter[str]) -> list[RowValue]:
    return [{"value": value, "rows": count} for value, count in counts.most_common()]


def _is_a_choice(values: list[RowValue]) -> bool:
    """Whether a column has few values and some repeat. A single value also counts if all rows have it."""
    return len(values) <= MOST_VALUES and (len(values) == 1 or any(one["rows"] > 1 for one in values))

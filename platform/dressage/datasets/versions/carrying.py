"""Carries notes over to derived versions: what was found about a row holds wherever the same row occurs."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dressage.datasets.limits import ROWS_PER_GROUP
from dressage.datasets.models import DatasetVersion, RowNotes
from dressage.datasets.versions import notes, storage
from dressage.datasets.versions.notes import NoteSource, WrittenNotes

_IDS_AT_ONCE = 500_000
_NOWHERE = -1


@dataclass(frozen=True, slots=True)
class CarriedNotes:
    """Notes of a version that has not been stored yet."""

    name: str
    source: NoteSource
    written: WrittenNotes


def carried_notes(
    path: Path, rows: int, parents: Sequence[DatasetVersion], changed: Collection[str]
) -> list[CarriedNotes]:
    """Write the notes that rows have in the versions that they come from.

    A row is looked up by id in the first parent that has it. Memory: 12 bytes per row, plus ``_IDS_AT_ONCE`` ids twice.

    Args:
        path: file of the rows.
        rows: number of rows.
        parents: versions that they come from.
        changed: ids of rows that differ from those in the parents.
    """
    found = [[one for one in notes.of(parent) if one.carried] for parent in parents]
    sources: dict[str, dict[int, RowNotes]] = {}
    for number, ones in enumerate(found):
        for one in ones:
            sources.setdefault(one.name, {})[number] = one
    if not sources:
        return []
    parent_of, place = _places(path, rows, [parent.path for parent in parents], changed)
    made: list[CarriedNotes] = []
    try:
        for name, by_parent in sources.items():
            first = next(iter(by_parent.values()))
            alike = {number: one for number, one in by_parent.items() if one.columns == first.columns}
            if np.isin(parent_of, list(alike)).any():
                made.append(CarriedNotes(name, first.source, notes.prepare(_tables(parent_of, place, alike))))
    except BaseException:
        discard(made)
        raise
    return made


def discard(carried: Sequence[CarriedNotes]) -> None:
    """Delete the files of notes that were not stored."""
    for one in carried:
        one.written.path.unlink(missing_ok=True)


def _places(path: Path, rows: int, parents: Sequence[Path], changed: Collection[str]) -> tuple[np.ndarray, np.ndarray]:
    """Index of the parent that has each row of the file, or -1, and the row's number there."""
    parent_of = np.full(rows, _NOWHERE, np.int32)
    place = np.zeros(rows, np.int64)
    left_out = pa.array(sorted(changed), pa.string())
    for start, ids in _stretches_of_ids(path):
        here = slice(start, start + len(ids))
        open_rows = ~pc.is_in(ids, value_set=left_out).to_numpy(zero_copy_only=False)
        for number, parent in enumerate(parents):
            for first, known in _stretches_of_ids(parent):
                if not open_rows.any():
                    break
                found = pc.index_in(ids, value_set=known).fill_null(_NOWHERE).to_numpy(zero_copy_only=False)
                new = open_rows & (found != _NOWHERE)
                parent_of[here][new] = number
                place[here][new] = first + found[new]
                open_rows &= ~new
    return parent_of, place


def _stretches_of_ids(path: Path) -> Iterator[tuple[int, pa.Array]]:
    """(number of the first row, ids) in stretches of at least ``_IDS_AT_ONCE`` rows."""
    start, waiting, count = 0, list[pa.Array](), 0
    for ids in storage.ids(path):
        waiting.extend(ids.chunks)
        count += len(ids)
        if count >= _IDS_AT_ONCE:
            yield start, pa.chunked_array(waiting).combine_chunks()
            start, waiting, count = start + count, [], 0
    if count:
        yield start, pa.chunked_array(waiting).combine_chunks()


def _tables(parent_of: np.ndarray, place: np.ndarray, sources: dict[int, RowNotes]) -> Iterator[pa.Table]:
    """Notes of the version's rows, ``ROWS_PER_GROUP`` at a time; null if a row comes from none of the sources."""
    readers = {number: _Reader(one) for number, one in sources.items()}
    for start in range(0, len(place), ROWS_PER_GROUP):
        whose, where = parent_of[start : start + ROWS_PER_GROUP], place[start : start + ROWS_PER_GROUP]
        parts, order = [], []
        for number in np.unique(whose):
            rows = np.flatnonzero(whose == number)
            order.append(rows)
            reader = readers.get(int(number))
            parts.append(reader.take(where[rows]) if reader else (len(rows)))
        schema = next(iter(readers.values())).schema
        tables = [_nothing(schema, part) if isinstance(part, int) else part for part in parts]
        back = np.argsort(np.concatenate(order), kind="stable")
        yield pa.concat_tables(tables).take(pa.array(back))


def _nothing(schema: pa.Schema, rows: int) -> pa.Table:
    return pa.Table.from_arrays([pa.nulls(rows, field.type) for field in schema], schema=schema)


class _Reader:
    """Reads rows of notes by number. Consecutive rows are fast, because the last row group is cached."""

    def __init__(self, notes: RowNotes) -> None:
        self._file = pq.ParquetFile(notes.path)
        self.schema = self._file.schema_arrow
        self._kept: tuple[int, pa.Table] | None = None

    def take(self, numbers: np.ndarray) -> pa.Table:
        """Notes of the rows with these numbers, in that order."""
        groups = numbers // ROWS_PER_GROUP
        tables, order = [], []
        for group in np.unique(groups):
            here = np.flatnonzero(groups == group)
            order.append(here)
            tables.append(self._group(int(group)).take(pa.array(numbers[here] - int(group) * ROWS_PER_GROUP)))
        return pa.concat_tables(tables).take(pa.array(np.argsort(np.concatenate(order), kind="stable")))

    def _group(self, number: int) -> pa.Table:
        if self._kept is None or self._kept[0] != number:
            self._kept = (number, self._file.read_row_group(number))
        return self._kept[1]

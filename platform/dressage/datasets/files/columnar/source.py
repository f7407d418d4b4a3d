"""Rows of a block as read from the file, all with the same names in the same order."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from dressage.datasets.files.records import Records


class SourceRows:
    """Valid rows. ``Records`` would yield the same values for them, without faults or NaN."""

    def __init__(
        self, names: tuple[str, ...], columns: dict[str, list[Any]], rows: Callable[[], list[dict[str, Any]]]
    ) -> None:
        """
        Args:
            names: names of the columns in the order of the rows.
            columns: ``{name: values}``.
            rows: creates the rows as objects.
        """
        self.names, self.columns, self.rows = names, columns, rows

    def __len__(self) -> int:
        return len(self.columns[self.names[0]])


class RowBlock(Protocol):
    """A part of a file."""

    def source(self) -> SourceRows | None:
        """Its rows if all of them are alike and valid; None if they must be examined one by one."""

    def taken(self) -> None:
        """Move past the block: its ``source`` was used, and its ``records`` are not needed."""

    def records(self) -> Records:
        """Yield its rows one by one."""

    def halves(self) -> Sequence["RowBlock"]:
        """Two blocks that together are this one; none if it is small enough to be read row by row."""


def alike(rows: list[dict[str, Any]]) -> SourceRows | None:
    """The rows if all have the same names in the same order."""
    names = tuple(rows[0])
    if not names or [*map(tuple, rows)].count(names) != len(rows):
        return None
    return SourceRows(names, {name: [row[name] for row in rows] for name in names}, lambda: rows)


def single(records: Callable[[], Records]) -> Iterator[RowBlock]:
    """A file that is read row by row."""
    yield _RowByRow(records)


class _RowByRow:
    """A block whose rows can only be read one by one."""

    def __init__(self, records: Callable[[], Records]) -> None:
        self.records = records

    def source(self) -> SourceRows | None:
        return None

    def taken(self) -> None:
        """Does nothing: no block is ever taken from it."""

    def halves(self) -> Sequence[RowBlock]:
        return ()

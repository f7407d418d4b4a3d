"""Rows of a block as the file has them, all with the same names in the same order."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from dressage.datasets.files.records import Records


class SourceRows:
    """Rows that are read and sound: what ``Records`` would tell of each is this value, without a fault and a NaN."""

    def __init__(
        self, names: tuple[str, ...], columns: dict[str, list[Any]], rows: Callable[[], list[dict[str, Any]]]
    ) -> None:
        """
        Args:
            names: names of the columns in the order of the rows.
            columns: ``{name: values}``.
            rows: makes the rows as objects.
        """
        self.names, self.columns, self.rows = names, columns, rows

    def __len__(self) -> int:
        return len(self.columns[self.names[0]])


class RowBlock(Protocol):
    """A stretch of a file."""

    def source(self) -> SourceRows | None:
        """Its rows, where all of them are alike and sound; None where they have to be looked at one by one."""

    def taken(self) -> None:
        """Go on behind it: its ``source`` was used, and its ``records`` are not wanted."""

    def records(self) -> Records:
        """Its rows one by one."""

    def halves(self) -> Sequence["RowBlock"]:
        """Two blocks that are this one; none where it is small enough to be read row by row."""


def alike(rows: list[dict[str, Any]]) -> SourceRows | None:
    """The rows, where all have the same names in the same order."""
    names = tuple(rows[0])
    if not names or [*map(tuple, rows)].count(names) != len(rows):
        return None
    return SourceRows(names, {name: [row[name] for row in rows] for name in names}, lambda: rows)


def single(records: Callable[[], Records]) -> Iterator[RowBlock]:
    """A file that is read row by row."""
    yield _RowByRow(records)


class _RowByRow:
    """A block whose rows nobody can have but one by one."""

    def __init__(self, records: Callable[[], Records]) -> None:
        self.records = records

    def source(self) -> SourceRows | None:
        return None

    def taken(self) -> None:
        """Nothing is ever taken of it."""

    def halves(self) -> Sequence[RowBlock]:
        return ()

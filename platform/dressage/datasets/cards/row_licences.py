"""The licence that the rows of a file name, as in Kattis archives and exports from hubs."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dressage.datasets.cards import licences
from dressage.datasets.files.columnar.stored import TakenRows
from dressage.datasets.rows.row import Row

_COLUMNS = ("license", "licence")
_MOST = 8
"""Maximum number of different licences. A file with more is treated as having none."""


class LicencesOf:
    """Passes rows through and records their licences."""

    def __init__(self, parts: Iterable[Row | TakenRows]) -> None:
        self._parts = parts
        self._found: set[str] = set()

    def __iter__(self) -> Iterator[Row | TakenRows]:
        for part in self._parts:
            if len(self._found) <= _MOST:
                self._found |= {_licence(part.data)} if isinstance(part, Row) else _licences(part)
            yield part

    def together(self) -> str:
        """The combined licence of all rows. Empty if some rows have none."""
        if len(self._found) > _MOST:
            return ""
        return licences.together(sorted(self._found))


def _licences(rows: TakenRows) -> set[str]:
    columns = {name: values for name in _COLUMNS if (values := rows.values(name)) is not None}
    if not columns:
        return {_licence({})}
    # Values that compare equal but differ in type, such as 1 and True, are no licences either.
    told = {
        tuple([value if isinstance(value, str) else None for value in row])
        for row in zip(*columns.values(), strict=True)
    }
    return {_licence(dict(zip(columns, row, strict=True))) for row in told}


def _licence(row: Mapping[str, Any]) -> str:
    for name in _COLUMNS:
        value = row.get(name)
        if isinstance(value, str) and len(value) <= licences.MAX_LICENCE:
            return licences.tidy(value)
    return ""

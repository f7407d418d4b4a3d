"""The licence that the rows of a file say they come under, as tasks of Kattis archives and exports of hubs do."""

from collections.abc import Iterable, Iterator

from dressage.datasets.cards import licences
from dressage.datasets.rows import Row

_COLUMNS = ("license", "licence")
_MOST = 8
"""Different licences that are told; of a file with more, none is."""


class LicencesOf:
    """Passes rows on, and remembers their licences."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = rows
        self._found: set[str] = set()

    def __iter__(self) -> Iterator[Row]:
        for row in self._rows:
            if len(self._found) <= _MOST:
                self._found.add(_licence(row))
            yield row

    def together(self) -> str:
        """The licence of all rows; empty where some have none."""
        if len(self._found) > _MOST:
            return ""
        return licences.together(sorted(self._found))


def _licence(row: Row) -> str:
    for name in _COLUMNS:
        value = row.data.get(name)
        if isinstance(value, str) and len(value) <= licences.MAX_LICENCE:
            return licences.tidy(value)
    return ""

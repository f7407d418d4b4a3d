"""The first rows of a file by column, with names normalised for the comparison with aliases."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from trainer_core.datasets.json_text import read_json
from trainer_core.datasets.mapping.document import MAX_NAME
from trainer_core.datasets.mapping.path import MISSING, Step, value_at
from trainer_core.datasets.shape import Row

_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\s_\-./]+")


def plain(name: str) -> str:
    """A name in lower case with ``_`` between its words: ``answerKey`` and ``Answer Key`` are ``answer_key``."""
    return "_".join(word for word in _WORDS.split(name) if word).lower()


class FirstRows:
    """Columns that all rows have."""

    def __init__(self, rows: Sequence[Row]) -> None:
        """
        Args:
            rows: at least one.
        """
        names = [name for name in rows[0] if 0 < len(name) <= MAX_NAME and all(name in row for row in rows)]
        self.json: dict[str, None] = {}
        parsed = [dict(row) for row in rows]
        for name in names:
            values = _as_json([row[name] for row in rows])
            if values is not None:
                self.json[name] = None
                for row, value in zip(parsed, values, strict=True):
                    row[name] = value
        self.rows: list[Row] = parsed
        self.names = names
        self._by_alias: dict[str, str] = {}
        for name in names:
            self._by_alias.setdefault(plain(name), name)

    def named(self, aliases: Iterable[str]) -> list[str]:
        """The columns with one of these names, in the order of the aliases."""
        return [self._by_alias[alias] for alias in aliases if alias in self._by_alias]

    def values(self, *steps: Step) -> list[Any]:
        """The values at a path, one per row; ``MISSING`` if a row has none."""
        return [value_at(row, steps) for row in self.rows]

    def all(self, steps: Iterable[Step], holds: Callable[[Any], bool]) -> bool:
        """Whether ``holds`` is true for the values at a path in all rows."""
        return all(value is not MISSING and holds(value) for value in self.values(*steps))

    def is_text(self, *steps: Step) -> bool:
        """Whether all values are text that is not blank."""
        return self.all(steps, lambda value: isinstance(value, str) and bool(value.strip()))


def _as_json(values: list[Any]) -> list[Any] | None:
    """The parsed values of a text column that holds only JSON lists or objects; None for all other columns."""
    made: list[Any] = []
    for value in values:
        if not isinstance(value, str) or value.strip()[:1] not in ("[", "{"):
            return None
        try:
            made.append(read_json(value))
        except ValueError:
            return None
    return made

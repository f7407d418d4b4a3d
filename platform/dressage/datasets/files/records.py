"""Form in which all formats give their rows to the reader."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from dressage.datasets.limits import MAX_COLUMNS


class LeftOutError(ValueError):
    """The row cannot be used and is left out with a warning. The text is a sentence that says why."""


class Record(NamedTuple):
    """One row as the file has it, or what is wrong with it."""

    number: int
    """Line or row of the file, from 1."""
    value: dict[str, Any] | ValueError
    nan: bool = False
    """Whether a NaN was read as null."""


Records = Iterator[Record]


def require_columns(names: list[str]) -> None:
    """Refuse more columns than a row may have. Raises ValueError."""
    if len(names) > MAX_COLUMNS:
        raise ValueError(f"The file has more than {MAX_COLUMNS} different columns.")

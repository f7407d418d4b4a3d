"""Form in which all formats deliver rows to the reader."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from dressage.datasets.limits import MAX_COLUMNS


class LeftOutError(ValueError):
    """The row cannot be used and is left out with a warning. The message is a sentence with the reason."""


class Record(NamedTuple):
    """One row as it is in the file, or the fault in it."""

    number: int
    """Line or row in the file, from 1."""
    value: dict[str, Any] | ValueError
    nan: bool = False
    """Whether a NaN was read as null."""


Records = Iterator[Record]


def require_columns(names: list[str]) -> None:
    """Refuse more columns than a row may have. Raises ValueError."""
    if len(names) > MAX_COLUMNS:
        raise ValueError(f"The file has more than {MAX_COLUMNS} different columns.")

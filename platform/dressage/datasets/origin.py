"""Origin of a version: the file as it was given, the shape that was found in it, and what deserves a second look."""

from collections import Counter
from typing import Any, Literal

from typing_extensions import TypedDict

from trainer_core.datasets import control_tokens

_FIRST_ROWS = 10
_TOKENS = 10


class FileOrigin(TypedDict):
    """The file as it was given."""

    name: str
    format: Literal["jsonl", "json"]
    packed: bool
    """Whether it was packed with gzip."""
    bytes: int
    sha256: str
    """Hash of the file as it was given."""


class MappedColumn(TypedDict):
    """Origin of a column of the rows."""

    column: str
    source: str
    """Phrase that names the columns of the file and what was done to them."""


class ShapeOrigin(TypedDict):
    """The shape that was found, and what fits it."""

    name: str
    """Short name; ``own`` for rows that were stored as they came."""
    title: str
    mapping: list[MappedColumn]
    """Columns that were made; all others are as they came."""
    grader: dict[str, Any] | None
    """A grader that can grade these rows at once."""
    system: str | None
    """System prompt that asks for the form of answer which the grader reads."""


class OriginWarning(TypedDict):
    """Something that was taken and deserves a second look."""

    code: Literal["control_tokens"]
    detail: str
    rows: int
    """Rows that it is about."""
    first_rows: list[int]
    """The first of them, counted from 1."""


class Origin(TypedDict):
    """What a version was made from."""

    file: FileOrigin
    shape: ShapeOrigin
    warnings: list[OriginWarning]


class ControlTokens:
    """Counts rows with text that looks like control tokens. Memory: a few row numbers and tokens."""

    def __init__(self) -> None:
        self._rows = 0
        self._first: list[int] = []
        self._tokens: Counter[str] = Counter()
        self._columns: dict[str, None] = {}

    def look(self, number: int, data: dict[str, Any]) -> None:
        """Look through one row, whose number counts from 1."""
        found = {name: tokens for name, value in data.items() if (tokens := _tokens_in(value))}
        if not found:
            return
        self._rows += 1
        if len(self._first) < _FIRST_ROWS:
            self._first.append(number)
        for name, tokens in found.items():
            self._columns[name] = None
            self._tokens.update(token for token in tokens if token in self._tokens or len(self._tokens) < 100)

    def warning(self) -> OriginWarning | None:
        """The warning, where there is something to warn of."""
        if not self._rows:
            return None
        tokens = ", ".join(f"`{token}`" for token, _ in self._tokens.most_common(_TOKENS))
        columns = ", ".join(f"`{name}`" for name in self._columns)
        rows = "1 row holds" if self._rows == 1 else f"{self._rows:,} rows hold"
        detail = (
            f"{rows} text that looks like control tokens ({tokens}) in {columns}. It was kept as it is, and the "
            "policy reads it as text, never as the tokens themselves."
        )
        return {"code": "control_tokens", "detail": detail, "rows": self._rows, "first_rows": self._first}


def _tokens_in(value: Any) -> list[str]:
    match value:
        case str():
            return control_tokens(value) if "<" in value or "[" in value else []
        case list():
            return [token for one in value for token in _tokens_in(one)]
        case dict():
            return [token for one in value.values() for token in _tokens_in(one)]
    return []

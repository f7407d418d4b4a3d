"""Columns of the first rows, with examples, and the paths within them that a mapping can name."""

from collections.abc import Iterable
from typing import Any

from typing_extensions import TypedDict

from dressage.datasets.mapping.abridged import abridged
from trainer_core.datasets.fields import json_type
from trainer_core.datasets.json_text import read_json
from trainer_core.datasets.mapping.path import Step, written
from trainer_core.datasets.shape import Row

MAX_SHOWN = 256
_EXAMPLES = 3
_PATHS = 30
_DEPTH = 4


class PreviewPath(TypedDict):
    """A path within a column."""

    path: str
    type: str
    example: Any


class PreviewColumn(TypedDict):
    """A column of the file."""

    name: str
    path: str
    """Its name in a mapping."""
    type: str
    """JSON type of its values; `mixed` if they differ."""
    rows: int
    """Number of examined rows that have it."""
    json_text: bool
    """Whether its values are JSON text."""
    examples: list[Any]
    """Its first distinct values, abridged."""
    paths: list[PreviewPath]
    """Paths within its first value that is not null. JSON text is parsed for this."""


def described(rows: Iterable[Row]) -> list[PreviewColumn]:
    """The columns in order of first appearance."""
    values: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row.items():
            values.setdefault(name, []).append(value)
    return [_column(name, found) for name, found in list(values.items())[:MAX_SHOWN]]


def _column(name: str, values: list[Any]) -> PreviewColumn:
    kinds = {json_type(value) for value in values} - {"null"} or {"null"}
    parsed = _parsed(values)
    examples: list[Any] = []
    for value in values:
        short = abridged(value)
        if value is not None and short not in examples:
            examples.append(short)
        if len(examples) == _EXAMPLES:
            break
    first = next((value for value in parsed or values if value not in (None, [], {})), None)
    paths: list[PreviewPath] = []
    _walk(first, (name,), paths)
    return {
        "name": name,
        "path": written([name]),
        "type": next(iter(kinds)) if len(kinds) == 1 else "mixed",
        "rows": len(values),
        "json_text": parsed is not None,
        "examples": examples,
        "paths": paths,
    }


def _parsed(values: list[Any]) -> list[Any] | None:
    """The parsed values if all of them are texts of JSON lists or objects."""
    made: list[Any] = []
    for value in values:
        if value is None or (isinstance(value, str) and not value.strip()):
            continue
        if not isinstance(value, str) or value.strip()[:1] not in ("[", "{"):
            return None
        try:
            made.append(read_json(value))
        except ValueError:
            return None
    return made or None


def _walk(value: Any, steps: tuple[Step, ...], paths: list[PreviewPath]) -> None:
    inner: list[tuple[Step, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list) and value:
        inner = [(0, value[0])]
    for step, one in inner:
        if len(paths) >= _PATHS:
            return
        here = (*steps, step)
        paths.append({"path": written(here), "type": json_type(one), "example": abridged(one)})
        if len(here) < _DEPTH:
            _walk(one, here, paths)

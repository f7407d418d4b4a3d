"""Rows from pieces of JSON text: each one object, read exactly, with a sentence about what is wrong."""

import json
from collections.abc import Iterable
from typing import Any, Literal

from dressage.common.parsers import loads
from dressage.datasets.limits import MAX_DEPTH, MAX_ROW_BYTES
from dressage.datasets.records import Record, Records
from trainer_core.datasets.fields import json_type


def records(pieces: Iterable[tuple[int, bytes | None]], unit: Literal["line", "row"]) -> Records:
    """The rows of numbered pieces."""
    for number, piece in pieces:
        nan = _Nan()
        try:
            yield Record(number, parse_piece(piece, unit, nan), nan.found)
        except ValueError as error:
            yield Record(number, error)


def parse_piece(piece: bytes | None, unit: str, nan: "_Nan") -> dict[str, Any]:
    """One object. Raises ValueError with a sentence about what is wrong."""
    if piece is None:
        raise ValueError(f"The {unit} is longer than {MAX_ROW_BYTES:,} bytes.")
    try:
        text = piece.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"The {unit} is not UTF-8: {error.reason} at byte {error.start + 1}.") from error
    try:
        data = loads(text, MAX_DEPTH, constant=nan)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} of the row, column {error.colno}" if error.lineno > 1 else f"column {error.colno}"
        raise ValueError(f"The {unit} is not valid JSON: {error.msg} at {where}.") from error
    if not isinstance(data, dict):
        raise ValueError(f"A row must be a JSON object, not {json_type(data)}.")
    return data


class _Nan:
    """Reads the NaN that Python and pandas write for a missing number as null, and remembers it."""

    def __init__(self) -> None:
        self.found = False

    def __call__(self, name: str) -> None:
        if name != "NaN":
            raise ValueError(f"{name} is not JSON, and no number can stand for it.")
        self.found = True

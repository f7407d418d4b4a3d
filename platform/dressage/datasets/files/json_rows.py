"""Rows from pieces of JSON text. Each piece is one object, read exactly, or a message about what is wrong."""

import json
import math
from collections.abc import Iterable
from typing import Any, Literal

from dressage.common.api.strict_json import MAX_DIGITS, check, loads
from dressage.datasets.files.records import Record, Records
from dressage.datasets.limits import MAX_DEPTH, MAX_ROW_BYTES
from trainer_core.datasets.fields import json_type


def records(pieces: Iterable[tuple[int, bytes | None]], unit: Literal["line", "row"]) -> Records:
    """Yield the rows of numbered pieces."""
    reader = QuickReader()
    for number, piece in pieces:
        data = reader.read(piece) if piece is not None else None
        if data is not None:
            yield Record(number, data)
            continue
        nan = _Nan()
        try:
            yield Record(number, parse_piece(piece, unit, nan), nan.found)
        except ValueError as error:
            yield Record(number, error)


class QuickReader:
    """Reads pieces that contain no faults and no NaN, which are most pieces of most files. Leaves others alone.

    Everything that it accepts, ``parse_piece`` accepts with the same value. ``parse_piece`` checks value by value and
    reports what is wrong. Here numbers are checked while they are read, and texts only if an escape may have produced
    an invalid character.
    """

    def __init__(self) -> None:
        self._decode = json.JSONDecoder(
            object_pairs_hook=_unique, parse_constant=_refuse, parse_int=_whole, parse_float=_finite
        ).decode

    def read(self, piece: bytes) -> dict[str, Any] | None:
        """The object; None if ``parse_piece`` must decide."""
        try:
            data = self._decode(piece.decode())
            # NUL characters and lone surrogates can only come from escapes: JSON and UTF-8 do not allow them literally.
            if b"\\u" in piece or piece.count(b"{") + piece.count(b"[") > MAX_DEPTH:
                check(data, MAX_DEPTH)
        except (ValueError, RecursionError):
            return None
        return data if isinstance(data, dict) else None


def parse_piece(piece: bytes | None, unit: str, nan: "_Nan") -> dict[str, Any]:
    """Parse one object. Raises ValueError with a message about what is wrong."""
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


def parse_row(text: str) -> dict[str, Any]:
    """Parse one row from JSON text. Raises ValueError with a message about what is wrong."""
    return parse_piece(text.encode(), "row", _Nan())


class _Nan:
    """Reads NaN, which Python and pandas write for missing numbers, as null, and records that it occurred."""

    def __init__(self) -> None:
        self.found = False

    def __call__(self, name: str) -> None:
        if name != "NaN":
            raise ValueError(f"{name} is not JSON, and no number can stand for it.")
        self.found = True


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        raise ValueError("a key twice")
    return data


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _whole(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ValueError("too many digits")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value

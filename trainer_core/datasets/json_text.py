"""JSON as text in a column, read as strictly as the JSON of the file itself."""

import json
import math
from typing import Any

MAX_DEPTH = 30
"""Most levels of nesting; the row around it may have two more."""
_MAX_DIGITS = 300


def read_json(text: str) -> Any:
    """The value in a JSON text.

    Raises:
        ValueError: it is not JSON, or holds something that no row may hold. The message says what, such as "is nested
            too deep".
    """
    try:
        value = json.loads(text, parse_constant=_refuse, parse_int=_whole, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg} at character {error.pos + 1}") from error
    except RecursionError as error:
        raise ValueError(f"is nested deeper than {MAX_DEPTH} levels") from error
    _check(value)
    return value


def _refuse(name: str) -> Any:
    raise ValueError(f"contains {name}, which is not JSON")


def _whole(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise ValueError(f"contains a number of more than {_MAX_DIGITS} digits")
    return int(text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("contains a key twice")
    return made


def _check(value: Any) -> None:
    level, depth = [value], 0
    while level:
        inner: list[Any] = []
        for one in level:
            if isinstance(one, str):
                if "\0" in one or any("\ud800" <= sign <= "\udfff" for sign in one if sign > "\ud7ff"):
                    raise ValueError("contains NUL characters or lone surrogates")
            elif isinstance(one, float) and not math.isfinite(one):
                raise ValueError("contains a number that is too large")
            elif isinstance(one, list | dict):
                if depth == MAX_DEPTH:
                    raise ValueError(f"is nested deeper than {MAX_DEPTH} levels")
                inner.extend(one)
                if isinstance(one, dict):
                    inner.extend(one.values())
        level, depth = inner, depth + 1

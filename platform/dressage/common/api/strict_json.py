"""JSON without the parts that break later: unbounded nesting, NaN, NUL characters, lone surrogates."""

import json
import math
from collections.abc import Callable
from typing import Any

MAX_DEPTH = 64
MAX_DIGITS = 300


def check(data: Any, max_depth: int = MAX_DEPTH) -> None:
    """Refuse a parsed JSON value that is too deep, or whose text or numbers cannot be stored.

    Raises:
        ValueError: with the reason.
    """
    level: list[Any] = [data]
    depth = 0
    while level:
        inner: list[Any] = []
        for value in level:
            if isinstance(value, str):
                _check_text(value)
            elif isinstance(value, float) and not math.isfinite(value):
                raise ValueError("Numbers must be finite.")
            elif isinstance(value, list | dict):
                if depth == max_depth:
                    raise ValueError(f"JSON is nested deeper than {max_depth} levels.")
                inner.extend(value)  # the keys, for an object
                if isinstance(value, dict):
                    inner.extend(value.values())
        level, depth = inner, depth + 1


def loads(text: str | bytes, max_depth: int = MAX_DEPTH, *, constant: Callable[[str], Any] | None = None) -> Any:
    """Strict ``json.loads``: no NaN, no duplicate keys, bounded depth.

    Args:
        text: the JSON.
        max_depth: levels of nesting.
        constant: called with ``NaN`` or ``Infinity``, returns the value to use instead; by default all are refused.

    Raises:
        ValueError: with the reason.
    """
    try:
        data = json.loads(
            text, parse_constant=constant or _refuse_constant, parse_int=_whole, object_pairs_hook=_unique
        )
    except RecursionError as error:
        raise ValueError(f"JSON is nested deeper than {max_depth} levels.") from error
    check(data, max_depth)
    return data


def _check_text(value: str) -> None:
    if "\0" in value:
        raise ValueError("Text must not contain NUL characters.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError("Text must not contain lone surrogates (half of an escaped emoji).") from error


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON.")


def _whole(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ValueError(f"A number has more than {MAX_DIGITS} digits.")
    return int(text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        seen: set[str] = set()
        name = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"The key {name!r} appears twice.")
    return data

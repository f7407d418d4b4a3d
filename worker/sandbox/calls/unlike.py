"""Values that are certainly not a given one, and that look like it."""

import datetime
import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

_MANY = 19
"""An object that knows nothing of the right value passes one comparison with a chance of 1 in 20."""
_SIGN = "\u2603"
_FILLED: dict[type, Any] = {
    str: _SIGN,
    bytes: b"x",
    list: [_SIGN],
    tuple: (_SIGN,),
    dict: {_SIGN: 1},
    set: {_SIGN},
    frozenset: {_SIGN},
}
_ALPHABETS = ("0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_random = random.SystemRandom()  # a test may seed the usual one


def unlike(value: Any) -> list[Any] | None:
    """Values of the same kind, each different from ``value`` and drawn again each time. None for an unknown kind.

    For a value that has few others of its kind, such as True or an empty list, they are few: an object that equals it
    and not them commits itself to that value.
    """
    if isinstance(value, bool):
        return [not value]
    if value is None:
        return [_SIGN]
    if type(value) in _FILLED and not value:
        return [_FILLED[type(value)]]
    change, found = _change(value), list[Any]()
    if change is None:
        return None
    for _ in range(10 * _MANY):
        other = change(value)
        if other != value and other not in found:
            found.append(other)
        if len(found) == _MANY:
            break
    return found or None


def _change(value: Any) -> Callable[[Any], Any] | None:
    kind = type(value)
    if kind in (int, float, Decimal, Fraction):
        # the difference of two draws of the same kind, so the right value is not the middle of the others
        shift = _random.randint(1, 50)
        return lambda number: number + kind(_random.randint(1, 100) - shift)
    if kind is complex:
        return lambda number: number + complex(_random.randint(-50, 50), _random.randint(-50, 50))
    if kind in (datetime.date, datetime.datetime):
        return lambda moment: moment + datetime.timedelta(days=_random.randint(-50, 50))
    if kind is str:
        return _other_text
    if kind is bytes:
        return lambda data: _other_text(data.decode("latin-1")).encode("latin-1")
    if kind in (list, tuple, set, frozenset):
        return lambda parts: kind(_other_parts(list(parts)))
    if kind is dict:
        return lambda pairs: dict(zip(pairs, _other_parts(list(pairs.values())), strict=True))
    return None


def _other_text(text: str) -> str:
    places = [place for place, sign in enumerate(text) if any(sign in alphabet for alphabet in _ALPHABETS)]
    signs = list(text)
    if not places:
        return text + _random.choice("!?;~#")
    for place in _random.sample(places, _random.randint(1, len(places))):
        alphabet = next(one for one in _ALPHABETS if signs[place] in one)
        signs[place] = _random.choice(alphabet)
    return "".join(signs)


def _other_parts(parts: list[Any]) -> list[Any]:
    place = _random.randrange(len(parts))
    others = unlike(parts[place])
    if others is None:
        return parts
    return [*parts[:place], _random.choice(others), *parts[place + 1 :]]

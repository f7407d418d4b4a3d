"""Comparisons of the program's objects with values of the tests, as far as their answers can be believed.

The object itself answers, and it is shown the value that may be the expected one. A positive answer is believed only if
the object tells the value from others, in an order that it cannot foresee.
"""

import secrets
import string
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from worker.sandbox.calls.unlike import unlike

if TYPE_CHECKING:
    from worker.sandbox.calls.peer import Peer

_SIGN = "\u2603"
_CONVERSE = {"__lt__": "__gt__", "__le__": "__gt__", "__gt__": "__lt__", "__ge__": "__lt__"}
_NUMBERS = (int, float, Decimal, Fraction)
_FAR = 10**6
_MANY = 19
_ALPHABETS = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
_random = secrets.SystemRandom()  # a test may seed the usual one

Forward = Callable[..., Any]


def compared(peer: "Peer", self: Any, name: str, other: Any, operators: frozenset[str], forward: Forward) -> Any:
    """The result of comparing an object with a plain value.

    Args:
        peer: this side of the line.
        self: the object.
        name: the operator.
        other: the value.
        operators: those that the object's class defines.
        forward: asks the object.
    """
    if name == "__contains__":
        return _holds(self, other, forward)
    if not peer.trusts(self):
        return NotImplemented
    if name in _CONVERSE:
        return _ordered(self, name, other, operators, forward)
    return _equals(peer, self, other, forward)


def _equals(peer: "Peer", self: Any, other: Any, forward: Forward) -> Any:
    """Equality is believed only of an object that the test has created.

    The program may return any object, so comparisons of objects that it returned cannot be judged.
    """
    others = unlike(other)
    if others is None or peer.has_returned(self):
        said = forward(self, other)
        if said is True and forward(self, _SIGN) is not True:
            peer.doubt(
                f"a test compares an object of the program's class {type(self).__name__} with a plain value: only the "
                "program could say how they compare"
            )
        return said if said is NotImplemented else False
    place = secrets.randbelow(len(others) + 1)
    for one in others[:place]:
        if forward(self, one) is True:
            return False
    said = forward(self, other)
    if said is not True or any(forward(self, one) is True for one in others[place:]):
        return said if said is NotImplemented else False
    return True


def _holds(self: Any, value: Any, forward: Forward) -> bool:
    """Membership is believed of a container that holds no more than a list of numbers could, and few texts."""
    others, fewest = _far_from(value)
    place = secrets.randbelow(len(others) + 1)
    refused = sum(not _says(self, one, forward) for one in others[:place])
    if forward(self, value) is not True:
        return False
    refused += sum(not _says(self, one, forward) for one in others[place:])
    return refused >= fewest


def _ordered(self: Any, name: str, value: Any, operators: frozenset[str], forward: Forward) -> Any:
    """An order is believed of an object that has one place among the values, as a number has."""
    below = name in ("__lt__", "__le__")
    asked = [(name, value, True)]
    if _CONVERSE[name] in operators:
        asked.append((_CONVERSE[name], value, False))
    if isinstance(value, _NUMBERS) and not isinstance(value, bool):
        kind: Any = type(value)
        number: Any = value
        steps = [kind(_random.randint(1, 50)), kind(_random.randint(1, _FAR))]
        asked += [(name, number + step if below else number - step, True) for step in steps]
        asked.append((name, number - kind(_FAR**3) if below else number + kind(_FAR**3), False))
    _random.shuffle(asked)
    for operator, one, wanted in asked:
        said = forward(self, one, operator)
        if said is NotImplemented and one is value and operator == name:
            return said
        if (said is True) != wanted:
            return False
    return True


def _says(self: Any, value: Any, forward: Forward) -> bool:
    try:
        return forward(self, value) is True
    except Exception:
        return False


def _far_from(value: Any) -> tuple[list[Any], int]:
    """Values of the same kind that hardly any container holds beside this one, and how many of them it must refuse.

    A list can hold any range of numbers, so a container is free to hold most of them.
    """
    if isinstance(value, _NUMBERS) and not isinstance(value, bool):
        kind: Any = type(value)
        number: Any = value
        return [number + kind(_random.choice((-1, 1)) * _random.randint(_FAR, _FAR**2)) for _ in range(6)], 1
    if isinstance(value, str):
        return [_random_text(value) for _ in range(_MANY)], _MANY - 1
    if isinstance(value, bytes):
        return [_random_text(value.decode("latin-1")).encode("latin-1") for _ in range(_MANY)], _MANY - 1
    if isinstance(value, tuple | frozenset) and value:
        parts = list(value)
        place = _random.randrange(len(parts))
        others, fewest = _far_from(parts[place])
        return [type(value)([*parts[:place], one, *parts[place + 1 :]]) for one in others], fewest
    return [_SIGN], 1


def _random_text(text: str) -> str:
    """A text of the same shape, or a longer one: a list can hold all short texts."""
    if len(text) > 3 and _random.random() < 0.5:
        return "".join(
            _random.choice(next((one for one in _ALPHABETS if sign in one), string.ascii_letters)) for sign in text
        )
    more = "".join(_random.choices(string.ascii_lowercase, k=12))
    return text + more if _random.random() < 0.5 else more + text

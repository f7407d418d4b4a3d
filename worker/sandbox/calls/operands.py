"""Arithmetic of the program's objects with values of the tests, which often are the expected ones.

``abs(f(1) - 2) < 1e-6`` tells the object that ``f`` returned what it should have been. So a result is believed only if
the same operation gives other results with other values, in an order that the program cannot foresee. Where the result
is an object again, those of the other values go through all later operations beside it.
"""

import datetime
import random
import sys
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from worker.sandbox.calls.unlike import unlike

_NUMBERS = (int, float, complex, Decimal, Fraction)
_MOMENTS = (datetime.date, datetime.timedelta)
_SETS = (set, frozenset)
_TELLING = {f"__{side}{name}__" for name in ("add", "sub", "truediv", "xor") for side in ("", "r")}
"""Operators whose results differ for any two operands."""
_OF_SETS = {f"__{side}{name}__" for name in ("sub", "and", "or", "xor") for side in ("", "r")}
_UNARY = {
    "__neg__", "__pos__", "__abs__", "__invert__", "__float__", "__int__", "__complex__", "__index__", "__round__",
    "__trunc__", "__floor__", "__ceil__", "__bool__",
}  # fmt: skip
_OTHERS = ("mul", "floordiv", "mod", "divmod", "pow", "matmul", "lshift", "rshift", "and", "or")
WATCHED = frozenset({*_TELLING, *_UNARY, *(f"__{side}{name}__" for name in _OTHERS for side in ("", "r"))})
"""Operators whose results are looked at."""
REDUCTIONS = frozenset({"max", "min", "sum", "mean", "item"})
"""Methods that make one number of an array."""
_SAME = 1
"""Most of the other values that may give the same result: ``abs(x - 2)`` and ``abs(x - 8)`` are equal for 5."""
_FAILED = object()
_random = random.SystemRandom()  # a test may seed the usual one


class Siblings:
    """Results of arithmetic: for each object that it gave, those that it gave for other values, by number."""

    def __init__(self) -> None:
        self._of: dict[int, list[Any]] = {}

    def computed(
        self, target: Any, name: str, arguments: Sequence[Any], ask: Callable[..., Any], number_of: Callable[[Any], Any]
    ) -> Any:
        """The result of an operation, which ``ask`` requests. Raises TypeError if it does not depend on the value."""
        known = self._of.get(number_of(target))
        if known is not None:
            calls = [(one, *arguments) for one in known]
        elif arguments and (values := _others(name, arguments[0])):
            calls = [(target, one) for one in values]
        else:
            return ask(target, *arguments)
        _random.shuffle(calls)
        place = _random.randint(0, len(calls))
        found = [_attempt(ask, call) for call in calls[:place]]
        result = ask(target, *arguments)
        found += [_attempt(ask, call) for call in calls[place:]]
        return self._judged(name, result, found, number_of)

    def knows(self, target: Any, number_of: Callable[[Any], Any]) -> bool:
        """Whether an object is the result of arithmetic with a value of the tests."""
        return number_of(target) in self._of

    def tell_apart(self, target: Any, answers: Callable[[Any], Any], number_of: Callable[[Any], Any]) -> bool:
        """Whether an object gives an answer that few of those give that arithmetic gave for other values."""
        known = self._of.get(number_of(target))
        return known is None or sum(_attempt(answers, (one,)) is True for one in known) <= min(_SAME, len(known) - 1)

    def _judged(self, name: str, result: Any, found: list[Any], number_of: Callable[[Any], Any]) -> Any:
        number = number_of(result)
        if number is not None:
            same = sum(number_of(one) == number for one in found)
            self._of[number] = [one for one in found if number_of(one) is not None]
        elif name == "__bool__":
            same = 0 if result else sum(not one for one in found)
        elif _is_zero(result) and name in ("__truediv__", "__rtruediv__"):
            same = 0
        else:
            same = sum(_equal(one, result) for one in found)
        if result is not NotImplemented and same > min(_SAME, len(found) - 1):
            raise TypeError(f"{name} of an object of the program gives the same for every value")
        return result


def _others(name: str, operand: Any) -> list[Any] | None:
    """Other operands that tell the results of an operator apart; None if it need not be told."""
    if type(operand).__name__ == "ndarray" or type(operand).__module__ == "numpy":
        numpy = sys.modules["numpy"]
        telling = name in _TELLING and operand.dtype.kind in "iufc" and operand.size
        return [operand + numpy.asarray(shift, operand.dtype)[()] for shift in unlike(0) or ()] if telling else None
    if isinstance(operand, _SETS):
        return unlike(operand) if name in _OF_SETS else None
    if isinstance(operand, bool) and name in _TELLING:
        return unlike(int(operand))
    return unlike(operand) if name in _TELLING and isinstance(operand, (*_NUMBERS, *_MOMENTS)) else None


def _attempt(ask: Callable[..., Any], call: Sequence[Any]) -> Any:
    try:
        return ask(*call)
    except Exception:
        return _FAILED


def _is_zero(value: Any) -> bool:
    return isinstance(value, _NUMBERS) and value == 0


def _equal(one: Any, other: Any) -> bool:
    if one is _FAILED:
        return False
    found: Any = one == other
    return bool(found.all()) if hasattr(found, "all") else bool(found)

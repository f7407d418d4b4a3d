"""Values of expressions at points, with as many digits as their parts need; only ever calculated in the jail.

Sizes of all parts are watched: where parts differ in size, the smallest must still be seen in the result, so the value
is calculated again with more digits. What cancels to nothing within these digits is nothing, and one over it has no
value.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, Final

import mpmath  # type: ignore[import-untyped]

from trainer_core.rewards.mathematics.tree import Node, symbols

CONSTANTS: Final = frozenset({"pi", "e", "i"})
SPARE = 20
"""Digits of the precision that rounding may spoil."""
_DIGITS = 80
_LEAST_DIGITS = 60
_MOST_DIGITS = 20_000
_ROUNDS = 4
_LARGEST = 10**7
"""Bits of the largest power, and argument of the largest factorial."""
_SMALL_WHOLE = 3_000
"""Largest argument of a factorial that is multiplied out."""
_DIGITS_PER_BIT = 0.30103


class NoValueError(Exception):
    """An expression that has no value at a point."""


class PoleError(NoValueError):
    """The factorial of a negative whole number."""


class TooLargeError(NoValueError):
    """An expression that may have a value, which takes more digits or more work than a comparison may take."""


@dataclass(slots=True)
class Work:
    """Work that one side of a comparison may still cost, in units of about a microsecond.

    Counted, not measured: a verdict does not depend on the load of a machine.
    """

    left: float = 500_000.0

    def charge(self, units: float) -> None:
        """Take ``units``. Raises TooLargeError where they are not left."""
        self.left -= units
        if self.left < 0:
            raise TooLargeError


@dataclass(frozen=True, slots=True)
class Value:
    """A value, and what it was calculated with."""

    value: Any
    largest: Any
    """Size of the largest part."""
    digits: int
    """Digits by which the smallest part is seen beside the largest."""


def evaluate(tree: Node, point: Mapping[str, Fraction], complex_numbers: bool, work: Work, digits: int = 0) -> Value:
    """The value of ``tree`` at ``point``, calculated with ``digits`` or more.

    Raises:
        NoValueError: it has none.
        TooLargeError: it would take too many digits, or more than ``work`` has left.
    """
    digits = max(digits, _DIGITS)
    for _ in range(_ROUNDS):
        if digits > _MOST_DIGITS:
            break
        calculation = _Calculation(point, complex_numbers, digits, work)
        try:
            found = calculation.value(tree)
        except TooLargeError:
            raise
        except NoValueError:
            if calculation.needed <= digits:
                raise
            found = None
        if calculation.needed <= digits:
            return Value(found, calculation.largest, digits)
        digits = calculation.needed
    raise TooLargeError


def same_values(one: Value, other: Value) -> bool:
    """Whether two values that were calculated with equally many digits are the same."""
    difference, least = abs(one.value - other.value), mpmath.mpf(10) ** -10
    by_parts = mpmath.mpf(10) ** (SPARE - one.digits) * max(one.largest, other.largest, least)
    return bool(difference <= by_parts and difference <= mpmath.mpf(10) ** -SPARE * max(abs(one.value), least))


class _Calculation:
    """One calculation with a number of digits."""

    def __init__(self, point: Mapping[str, Fraction], complex_numbers: bool, digits: int, work: Work) -> None:
        self._point, self._complex, self._digits, self._work = point, complex_numbers, digits, work
        self._operation = 5.0 + (digits / 60) ** 1.5
        self._function = 10.0 * (digits / 60) ** 1.8
        self._gamma = 20.0 * (digits / 60) ** 3.3
        self._nothing = mpmath.mpf(10) ** (SPARE // 2 - digits)
        self.largest: Any = mpmath.mpf(0)
        self._low, self._high = 0, 0

    @property
    def needed(self) -> int:
        """Digits by which the smallest part would be seen beside the largest."""
        return _LEAST_DIGITS + int(2 * (self._high - self._low) * _DIGITS_PER_BIT)

    def value(self, tree: Node) -> Any:
        """The value of ``tree``. Raises NoValueError where it has none."""
        with mpmath.workdps(self._digits):
            try:
                return self._any(tree)
            except (ValueError, ZeroDivisionError, OverflowError, TypeError, mpmath.libmp.NoConvergence) as error:
                raise NoValueError from error

    def _any(self, tree: Node) -> Any:
        self._work.charge(self._operation)
        return self._seen(self._one(tree))

    def _seen(self, found: Any) -> Any:
        """``found``, its size noted."""
        if isinstance(found, mpmath.mpc):
            if not self._complex:
                raise NoValueError
            if not found.imag:
                found = found.real
        if mpmath.isnan(found) or mpmath.isinf(found):
            raise NoValueError
        if found:
            size = mpmath.mag(found)
            self._low, self._high = min(self._low, size), max(self._high, size)
            self.largest = max(self.largest, abs(found))
        return found

    def _one(self, tree: Node) -> Any:
        match tree.head:
            case "number":
                return mpmath.mpf(tree.value.numerator) / tree.value.denominator
            case "symbol":
                return self._symbol(tree.text)
            case "sum":
                return self._sum([self._any(part) for part in tree.parts])
            case "product":
                return mpmath.fprod([self._any(part) for part in tree.parts])
            case "power":
                return self._power(tree.parts[0], tree.parts[1])
            case "call":
                return self._call(tree)
        raise NoValueError

    def _sum(self, terms: list[Any]) -> Any:
        found = mpmath.fsum(terms)
        return self._or_nothing(found, max(map(abs, terms)))

    def _or_nothing(self, found: Any, scale: Any) -> Any:
        """``found``, or exactly 0 where only rounding keeps it from that."""
        return mpmath.mpf(0) if abs(found) <= self._nothing * scale else found

    def _symbol(self, name: str) -> Any:
        if name in CONSTANTS:
            return {"pi": mpmath.pi(), "e": mpmath.e(), "i": mpmath.mpc(0, 1)}[name]
        if name not in self._point:  # infinity and sets
            raise NoValueError
        value = self._point[name]
        return mpmath.mpf(value.numerator) / value.denominator

    def _power(self, base: Node, exponent: Node) -> Any:
        raised, below = self._any(exponent), self._any(base)
        self._work.charge(self._function)
        if not below:
            if mpmath.re(raised) <= 0:
                raise NoValueError
            return mpmath.mpf(0)
        whole = self._rounded(raised)
        raised = raised if whole is None else whole
        if abs(raised) * abs(mpmath.log(abs(below), 2)) > _LARGEST:
            raise TooLargeError
        if not self._complex and below < 0 and symbols(base) & symbols(exponent) - CONSTANTS:
            raise NoValueError  # x^x has values above 0, and at stray places below
        if not self._complex and below < 0 and whole is None:
            power = exponent.value if exponent.head == "number" else Fraction(1, 2)
            if power.denominator % 2 == 0:
                raise NoValueError
            root = mpmath.power(-below, raised)
            return root if power.numerator % 2 == 0 else -root
        return mpmath.power(below, raised)

    def _rounded(self, value: Any) -> Any | None:
        """The whole number that ``value`` is within its digits; None where it is none."""
        if isinstance(value, mpmath.mpc) or mpmath.mag(value) > self._digits:
            return value if mpmath.isint(value) else None
        nearest = mpmath.nint(value)
        return nearest if abs(value - nearest) <= self._nothing * max(1, self.largest) else None

    def _whole(self, value: Any) -> int:
        found = self._rounded(value)
        if found is None:
            raise NoValueError
        return int(found)

    def _call(self, tree: Node) -> Any:
        name = tree.text
        if name.startswith("of "):
            return self._symbol(tree.key)
        if name == "det":
            return self._determinant(tree.parts[0])
        arguments = [self._any(part) for part in tree.parts]
        self._work.charge(self._function * (4 if self._complex else 1))
        if name in ("factorial", "binomial"):
            return self._factorials(name, arguments)
        if name in _OF_WHOLE_NUMBERS:
            return mpmath.mpf(_OF_WHOLE_NUMBERS[name](*map(self._whole, arguments)))
        if name in ("floor", "ceiling"):
            (argument,) = arguments
            whole = self._rounded(argument)
            return whole if whole is not None else (mpmath.floor if name == "floor" else mpmath.ceil)(argument)
        if name in ("sin", "cos"):
            return self._wave(name, *arguments)
        if name in _QUOTIENTS:
            over, under = (self._wave(part, *arguments) for part in _QUOTIENTS[name])
            self._seen(1 / under**2)  # tanh 1000 is as near to 1
            return over / under
        function = _FUNCTIONS.get(name)
        if function is None:
            raise NoValueError
        return function(*arguments)

    def _wave(self, name: str, argument: Any) -> Any:
        """A circular or hyperbolic function; 0 where only rounding keeps it from that. Its size is noted."""
        if name == "one":
            return mpmath.mpf(1)
        if mpmath.mag(argument) > _MOST_DIGITS * 3 or (name.endswith("h") and mpmath.mag(argument) > 24):
            raise TooLargeError
        found = {"sin": mpmath.sin, "cos": mpmath.cos, "sinh": mpmath.sinh, "cosh": mpmath.cosh}[name](argument)
        return self._seen(self._or_nothing(found, max(1, abs(argument))))

    def _factorials(self, name: str, arguments: list[Any]) -> Any:
        if any(abs(one) > _LARGEST for one in arguments):
            raise TooLargeError
        whole = [one for one in map(self._rounded, arguments) if one is not None and 0 <= one <= _SMALL_WHOLE]
        if len(whole) == len(arguments):
            self._work.charge(500)
            return mpmath.mpf((math.factorial if name == "factorial" else math.comb)(*map(int, whole)))
        if name == "factorial" and any(whole is not None and whole < 0 for whole in map(self._rounded, arguments)):
            raise PoleError
        self._work.charge(self._gamma * (1 if name == "factorial" else 3))
        return (mpmath.factorial if name == "factorial" else mpmath.binomial)(*arguments)

    def _determinant(self, matrix: Node) -> Any:
        if matrix.head != "matrix" or len(matrix.parts) > 8 or len(matrix.parts) != len(matrix.parts[0].parts):
            raise NoValueError
        cells = [[self._any(cell) for cell in row.parts] for row in matrix.parts]
        return self._or_nothing(mpmath.det(mpmath.matrix(cells)), max(1, self.largest))


def _logarithm(value: Any, base: Any = 10) -> Any:
    return mpmath.log(value) / mpmath.log(base)


_QUOTIENTS: Final = {
    "tan": ("sin", "cos"), "cot": ("cos", "sin"), "sec": ("one", "cos"), "csc": ("one", "sin"),
    "tanh": ("sinh", "cosh"),
}  # fmt: skip
"""Functions that come close to round numbers, or have poles, where their argument is moderate."""
_OF_WHOLE_NUMBERS: Final[Mapping[str, Callable[..., int]]] = {
    "gcd": math.gcd, "lcm": math.lcm, "mod": lambda value, modulus: value % modulus,
}  # fmt: skip
_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "arcsin": mpmath.asin, "arccos": mpmath.acos, "arctan": mpmath.atan, "arccot": mpmath.acot, "ln": mpmath.log,
    "log": _logarithm, "abs": abs, "Re": mpmath.re, "Im": mpmath.im, "arg": mpmath.arg,
    "sinh": lambda value: _exponential(value, mpmath.sinh), "cosh": lambda value: _exponential(value, mpmath.cosh),
    "exp": lambda value: _exponential(value, mpmath.exp),
    "min": lambda *values: reduce(lambda one, other: min(one, other), values),
    "max": lambda *values: reduce(lambda one, other: max(one, other), values),
}  # fmt: skip


def _exponential(value: Any, function: Callable[[Any], Any]) -> Any:
    if abs(value) > _LARGEST:
        raise TooLargeError
    return function(value)

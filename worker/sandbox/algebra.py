"""Equality of expressions by their values at many points, to sixty digits and more; only ever called in the jail.

Two elementary expressions that agree to so many digits at a dozen points are the same, whatever they look like, and no
rule of simplification needs to be found. The time is bounded by the points: nothing is searched for.
"""

import math
import random
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import reduce
from typing import Any

import mpmath  # type: ignore[import-untyped]

from trainer_core.rewards.mathematics.precision import stands_for
from trainer_core.rewards.mathematics.tree import Node, product, symbols, total, walk
from trainer_core.rewards.mathematics.tree import number as exact

_DIGITS = 60
_MOST_DIGITS = 20_000
_SPARE = 20
"""Digits of the precision that rounding may spoil."""
_LARGEST = 10**7
"""Bits of the largest power, and argument of the largest factorial."""
_NAMED = {"pi", "e", "i"}
_OPPOSITE = {">": "<", ">=": "<="}
_LEAST_POINTS = 2


class UndecidedError(Exception):
    """Two expressions that these means cannot compare."""


class _Undefined(Exception):
    """An expression that has no value at a point."""


def equal(gold: Node, answer: Node) -> bool:
    """Whether two expressions, equations or inequalities are the same.

    Raises:
        UndecidedError: the gold one has a value at none of the points.
    """
    with mpmath.workdps(_DIGITS):
        return _same_relation(gold, answer) if gold.head == "relation" else _same_values(gold, answer)


def _same_relation(gold: Node, answer: Node) -> bool:
    """Whether one is a multiple of the other: by a constant, positive where the direction counts."""
    ours, our_sign = _difference(gold)
    theirs, their_sign = _difference(answer)
    if our_sign != their_sign:
        return False
    if our_sign not in ("=", "!=", "<", "<="):
        return all(_same_values(one, other) for one, other in zip(gold.parts, answer.parts, strict=True))
    names = sorted(_variables(ours) | _variables(theirs))
    complex_numbers = "i" in symbols(ours) | symbols(theirs)
    ratios = []
    nothing = mpmath.mpf(10) ** (_SPARE - _DIGITS)
    for point in _points(names):
        try:
            first = _PointValues(point, complex_numbers, _DIGITS).value(ours)
        except _Undefined:
            continue
        try:
            second = _PointValues(point, complex_numbers, _DIGITS).value(theirs)
        except _Undefined:
            return False
        if abs(first) < nothing:  # the point lies on the gold relation: it must lie on the other as well
            if abs(second) >= nothing:
                return False
            continue
        ratios.append(second / first)
    if len(ratios) < _LEAST_POINTS and names:
        raise UndecidedError("the gold relation has a value at no point")
    if not ratios or abs(ratios[0]) < mpmath.mpf(10) ** -_SPARE:
        return False
    if our_sign.startswith("<") and not mpmath.re(ratios[0]) > 0:
        return False
    return all(abs(ratio - ratios[0]) <= nothing * abs(ratios[0]) for ratio in ratios)


def _difference(relation: Node) -> tuple[Node, str]:
    left, right = relation.parts
    sign = relation.text
    if sign in _OPPOSITE:
        left, right, sign = right, left, _OPPOSITE[sign]
    return total([left, product([exact(-1), right])]), sign


def _same_values(gold: Node, answer: Node) -> bool:
    if "infinity" in symbols(gold) | symbols(answer):
        return False
    names = sorted(_variables(gold) | _variables(answer))
    complex_numbers = "i" in symbols(gold) | symbols(answer)
    if not names:
        return _same_constants(gold, answer, complex_numbers)
    seen: list[Mapping[str, Fraction]] = []
    digits = _DIGITS
    for point in _points(names):
        found = _same_at(point, gold, answer, complex_numbers, _DIGITS)
        if found is None:
            continue
        if not found[0]:
            return False
        seen, digits = [*seen, point], max(digits, found[1])
    if len(seen) < _LEAST_POINTS:
        raise UndecidedError("the gold answer has a value at no point")
    again = (_same_at(point, gold, answer, complex_numbers, _enough(digits), sure=True) for point in seen)
    return all(found is not None and found[0] for found in again)


def _same_at(
    point: Mapping[str, Fraction], gold: Node, answer: Node, complex_numbers: bool, digits: int, sure: bool = False
) -> tuple[bool, int] | None:
    """Whether the values at a point agree, and the digits by which the smallest part would be seen; None where the gold
    expression has no value. The answer must have a value wherever the gold one has."""
    ours, theirs = _PointValues(point, complex_numbers, digits), _PointValues(point, complex_numbers, digits)
    try:
        value = ours.value(gold)
    except _Undefined:
        return None
    try:
        other = theirs.value(answer)
        close = _close(value, other, max(ours.largest, theirs.largest), digits)
        if sure:  # digits enough for what cancels: a part that grows with them hides no difference
            close = close and bool(
                abs(value - other) <= mpmath.mpf(10) ** -_SPARE * max(abs(value), mpmath.mpf(10) ** -10)
            )
    except _Undefined:
        return False, digits
    return close, _DIGITS + 2 * int(max(ours.spread, theirs.spread))


def _enough(digits: int) -> int:
    if digits > _MOST_DIGITS:
        raise UndecidedError("the numbers are too large to compare")
    return digits


def _same_constants(gold: Node, answer: Node, complex_numbers: bool) -> bool:
    for decimal, other in ((answer, gold), (gold, answer)):
        if decimal.unit_in_last_place is not None:
            return _stands_for(decimal, other, complex_numbers)
    found = _same_at({}, gold, answer, complex_numbers, _DIGITS)
    if found is None and not complex_numbers:
        complex_numbers = True
        found = _same_at({}, gold, answer, True, _DIGITS)
    if found is None:
        raise UndecidedError("the gold answer has no value")
    if not found[0]:
        return False
    again = _same_at({}, gold, answer, complex_numbers, _enough(found[1]), sure=True)
    return again is not None and again[0]


def _stands_for(decimal: Node, other: Node, complex_numbers: bool) -> bool:
    try:
        value = _PointValues({}, complex_numbers, _DIGITS).value(other)
    except _Undefined:
        return False
    if mpmath.im(value):
        return False
    exact_value = _fraction(mpmath.re(value))
    if abs(exact_value - decimal.value) * 10 ** (_DIGITS - _SPARE) <= max(abs(exact_value), Fraction(1)):
        return True
    return stands_for(decimal, exact_value)


def _close(one: Any, other: Any, largest: Any, digits: int) -> bool:
    with mpmath.workdps(digits):
        return bool(abs(one - other) <= mpmath.mpf(10) ** (_SPARE - digits) * max(largest, mpmath.mpf(10) ** -10))


def _fraction(value: Any) -> Fraction:
    sign, mantissa, exponent, _ = value._mpf_
    found = Fraction(int(mantissa)) * Fraction(2) ** exponent
    return -found if sign else found


def _variables(tree: Node) -> set[str]:
    opaque = {one.key for one in walk(tree) if one.head == "call" and one.text.startswith("of ")}
    return (symbols(tree) - _NAMED) | opaque


def _points(names: list[str]) -> Iterator[dict[str, Fraction]]:
    """Points for the variables: positive, whole, of both signs, small. Always the same for the same names."""
    if not names:
        yield {}
        return
    chance = random.Random(20)
    for low, high, count in ((300, 3000, 5), (-3000, 3000, 5), (-990, 990, 3)):
        for _ in range(count):
            yield {name: Fraction(chance.randrange(low, high) * 1009 + 1, 1009_000) for name in names}
    for _ in range(4):
        yield {name: Fraction(chance.randrange(2, 12)) for name in names}


class _PointValues:
    """Values of trees at one point, and how large their parts were."""

    def __init__(self, point: Mapping[str, Fraction], complex_numbers: bool, digits: int) -> None:
        self._point, self._complex, self._digits = point, complex_numbers, digits
        self.largest: Any = mpmath.mpf(0)
        self._smallest: Any = mpmath.inf

    @property
    def spread(self) -> float:
        """Powers of ten between the smallest and the largest part."""
        if not self.largest:
            return 0.0
        return float(mpmath.log10(max(self.largest, 1)) - mpmath.log10(min(self._smallest, 1)))

    def value(self, tree: Node) -> Any:
        """The value of ``tree``. Raises _Undefined where it has none."""
        with mpmath.workdps(self._digits):
            try:
                found = self._any(tree)
            except (ValueError, ZeroDivisionError, OverflowError, TypeError, mpmath.libmp.NoConvergence) as error:
                raise _Undefined from error
            if mpmath.isnan(found) or mpmath.isinf(found):
                raise _Undefined
            return found

    def _any(self, tree: Node) -> Any:
        found = self._one(tree)
        if isinstance(found, mpmath.mpc) and not self._complex:
            raise _Undefined
        size = abs(found)
        if size:
            self.largest, self._smallest = max(self.largest, size), min(self._smallest, size)
        return found

    def _one(self, tree: Node) -> Any:
        match tree.head:
            case "number":
                return mpmath.mpf(tree.value.numerator) / tree.value.denominator
            case "symbol":
                return self._symbol(tree.text)
            case "sum":
                return mpmath.fsum([self._any(part) for part in tree.parts])
            case "product":
                return mpmath.fprod([self._any(part) for part in tree.parts])
            case "power":
                return self._power(tree.parts[0], tree.parts[1])
            case "call":
                return self._call(tree)
        raise _Undefined

    def _symbol(self, name: str) -> Any:
        if name in _NAMED:
            return {"pi": mpmath.pi(), "e": mpmath.e(), "i": mpmath.mpc(0, 1)}[name]
        value = self._point[name]
        return mpmath.mpf(value.numerator) / value.denominator

    def _power(self, base: Node, exponent: Node) -> Any:
        raised, below = self._any(exponent), self._any(base)
        if below and abs(raised) * abs(mpmath.log(abs(below), 2)) > _LARGEST:
            raise _Undefined
        if not below:
            if mpmath.re(raised) <= 0:
                raise _Undefined
            return mpmath.mpf(0)
        if not self._complex and below < 0 and not mpmath.isint(raised):
            power = exponent.value if exponent.head == "number" else Fraction(1, 2)
            if power.denominator % 2 == 0:
                raise _Undefined
            root = mpmath.power(-below, raised)
            return root if power.numerator % 2 == 0 else -root
        return mpmath.power(below, raised)

    def _call(self, tree: Node) -> Any:
        if tree.text.startswith("of "):
            return self._symbol(tree.key)
        if tree.text == "det":
            return self._determinant(tree.parts[0])
        function = _FUNCTIONS.get(tree.text)
        if function is None:
            raise _Undefined
        arguments = [self._any(part) for part in tree.parts]
        if tree.text in ("factorial", "binomial") and any(abs(one) > _LARGEST for one in arguments):
            raise _Undefined
        found = function(*arguments)
        if isinstance(found, mpmath.mpc) and not self._complex:
            raise _Undefined
        return found

    def _determinant(self, matrix: Node) -> Any:
        if matrix.head != "matrix" or len(matrix.parts) > 8 or len(matrix.parts) != len(matrix.parts[0].parts):
            raise _Undefined
        return mpmath.det(mpmath.matrix([[self._any(cell) for cell in row.parts] for row in matrix.parts]))


def _whole(value: Any) -> int:
    if not mpmath.isint(value):
        raise _Undefined
    return int(value)


def _logarithm(value: Any, base: Any = 10) -> Any:
    return mpmath.log(value) / mpmath.log(base)


def _gcd(*values: Any) -> Any:
    return mpmath.mpf(math.gcd(*map(_whole, values)))


def _lcm(*values: Any) -> Any:
    return mpmath.mpf(math.lcm(*map(_whole, values)))


def _modulo(value: Any, modulus: Any) -> Any:
    return mpmath.mpf(_whole(value) % _whole(modulus))


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan, "cot": mpmath.cot, "sec": mpmath.sec, "csc": mpmath.csc,
    "arcsin": mpmath.asin, "arccos": mpmath.acos, "arctan": mpmath.atan, "arccot": mpmath.acot, "sinh": mpmath.sinh,
    "cosh": mpmath.cosh, "tanh": mpmath.tanh, "ln": mpmath.log, "log": _logarithm, "exp": mpmath.exp, "abs": abs,
    "floor": mpmath.floor, "ceiling": mpmath.ceil, "factorial": mpmath.factorial, "binomial": mpmath.binomial,
    "gcd": _gcd, "lcm": _lcm, "mod": _modulo, "Re": mpmath.re, "Im": mpmath.im, "arg": mpmath.arg,
    "min": lambda *values: reduce(lambda one, other: min(one, other), values),
    "max": lambda *values: reduce(lambda one, other: max(one, other), values),
}  # fmt: skip

"""Zeros of expressions on a line, where they are quotients of polynomials; only ever calculated in the jail."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import mpmath  # type: ignore[import-untyped]

from trainer_core.rewards.mathematics.algebra.values import NoValueError, Work, evaluate
from trainer_core.rewards.mathematics.tree import Node

Line = Mapping[str, tuple[Fraction, Fraction]]
"""Start and slope of each variable."""
Polynomial = list[Fraction]
"""Coefficients, from the constant on; the last is not 0."""
_Quotient = tuple[Polynomial, Polynomial]
_HIGHEST = 24
_MOST_VARIANTS = 8
_LARGEST_BITS = 8_000
_DIGITS = 60


class _NoPolynomialError(Exception):
    """An expression that is no quotient of polynomials of moderate size."""


def roots_on(tree: Node, line: Line) -> list[Fraction] | None:
    """Places on the line at which ``tree`` may be 0 or have a pole: the real parts of all roots.

    None where it is no quotient of polynomials. Absolute values, least and greatest inside are taken with either sign.
    """
    try:
        found = []
        for over, under in _quotients(tree, line):
            found += [*_roots(over), *_roots(under)]
        return found
    except (_NoPolynomialError, mpmath.libmp.NoConvergence):
        return None


def _quotients(tree: Node, line: Line) -> list[_Quotient]:
    """Quotients that ``tree`` may be on the line: several where signs inside are open."""
    match tree.head:
        case "number":
            return [([tree.value] if tree.value else [], [Fraction(1)])]
        case "symbol" if tree.text in line:
            return [(_trimmed(list(line[tree.text])), [Fraction(1)])]
        case "call" if tree.key in line:
            return [(_trimmed(list(line[tree.key])), [Fraction(1)])]
        case "sum" | "product":
            found = _quotients(tree.parts[0], line)
            for part in tree.parts[1:]:
                join = _plus if tree.head == "sum" else _times
                found = _few([join(one, other) for one in found for other in _quotients(part, line)])
            return found
        case "power" if tree.parts[1].head == "number" and tree.parts[1].value.denominator == 1:
            exponent = tree.parts[1].value.numerator
            if abs(exponent) > _HIGHEST:
                raise _NoPolynomialError
            return [_raised(one, exponent) for one in _quotients(tree.parts[0], line)]
        case "call" if tree.text == "abs":
            inner = _quotients(tree.parts[0], line)
            return _few([*inner, *(([-value for value in over], under) for over, under in inner)])
        case "call" if tree.text in ("min", "max"):
            return _few([one for part in tree.parts for one in _quotients(part, line)])
        case "power" | "call" | "symbol":
            return [_constant(tree, line)]
    raise _NoPolynomialError


def _few(found: list[_Quotient]) -> list[_Quotient]:
    if len(found) > _MOST_VARIANTS:
        raise _NoPolynomialError
    return found


def _constant(tree: Node, line: Line) -> _Quotient:
    """A part in which no variable stands, such as √2, to sixty digits."""
    try:
        value = evaluate(tree, {}, False, Work(20_000.0)).value
    except NoValueError as error:
        raise _NoPolynomialError from error
    sign, mantissa, exponent, _ = value._mpf_
    if abs(exponent) > _LARGEST_BITS:
        raise _NoPolynomialError
    found = Fraction(int(mantissa)) * Fraction(2) ** exponent
    return ([-found if sign else found] if mantissa else []), [Fraction(1)]


def _trimmed(coefficients: Polynomial) -> Polynomial:
    while coefficients and not coefficients[-1]:
        coefficients.pop()
    if len(coefficients) > _HIGHEST + 1:
        raise _NoPolynomialError
    if any(max(abs(one.numerator), one.denominator).bit_length() > _LARGEST_BITS for one in coefficients):
        raise _NoPolynomialError
    return coefficients


def _product(one: Sequence[Fraction], other: Sequence[Fraction]) -> Polynomial:
    found = [Fraction(0)] * max(len(one) + len(other) - 1, 0)
    for place, value in enumerate(one):
        for more, factor in enumerate(other):
            found[place + more] += value * factor
    return _trimmed(found)


def _plus(one: _Quotient, other: _Quotient) -> _Quotient:
    (a, b), (c, d) = one, other
    if b == d:
        return _sum(a, c), b
    return _sum(_product(a, d), _product(c, b)), _product(b, d)


def _sum(one: Polynomial, other: Polynomial) -> Polynomial:
    size = max(len(one), len(other))
    padded = [[*part, *[Fraction(0)] * (size - len(part))] for part in (one, other)]
    return _trimmed([a + b for a, b in zip(*padded, strict=True)])


def _times(one: _Quotient, other: _Quotient) -> _Quotient:
    return _product(one[0], other[0]), _product(one[1], other[1])


def _raised(one: _Quotient, exponent: int) -> _Quotient:
    over, under = one if exponent >= 0 else (one[1], one[0])
    found: _Quotient = ([Fraction(1)], [Fraction(1)])
    for _ in range(abs(exponent)):
        found = _product(found[0], over), _product(found[1], under)
    return found


def _roots(polynomial: Polynomial) -> list[Fraction]:
    """Real parts of the roots, each once; of real roots these are the roots."""
    squarefree = _without_multiples(polynomial)
    if len(squarefree) < 2:
        return []
    if len(squarefree) == 2:
        return [-squarefree[0] / squarefree[1]]
    with mpmath.workdps(_DIGITS):
        coefficients = [mpmath.mpf(one.numerator) / one.denominator for one in reversed(squarefree)]
        found = mpmath.polyroots(coefficients, maxsteps=100, extraprec=400)
        return [_fraction(mpmath.re(one)) for one in found]


def _without_multiples(polynomial: Polynomial) -> Polynomial:
    """The polynomial divided by what it shares with its derivative."""
    derivative = _trimmed([place * value for place, value in enumerate(polynomial)][1:])
    if len(derivative) < 2:
        return polynomial if derivative else []
    one, other = polynomial, derivative
    while other:
        one, other = other, _divided(one, other)[1]
        other = _trimmed([value / other[-1] for value in other]) if other else other
    return _divided(polynomial, one)[0]


def _divided(one: Polynomial, other: Polynomial) -> tuple[Polynomial, Polynomial]:
    quotient, rest = [Fraction(0)] * max(len(one) - len(other) + 1, 0), list(one)
    while len(rest) >= len(other):
        factor, place = rest[-1] / other[-1], len(rest) - len(other)
        quotient[place] = factor
        for index, value in enumerate(other):
            rest[place + index] -= factor * value
        rest.pop()
        while rest and not rest[-1]:
            rest.pop()
    return quotient, rest


def _fraction(value: object) -> Fraction:
    sign, mantissa, exponent, _ = value._mpf_  # type: ignore[attr-defined]
    found = Fraction(int(mantissa)) * Fraction(2) ** exponent
    return -found if sign else found

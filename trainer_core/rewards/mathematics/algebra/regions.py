"""Points at which expressions are compared: in every region that their branches cut the lines of the variables into.

Analytic expressions that agree on an interval agree wherever they continue, so a few points decide. ``|x+5|``,
``\\max(x,20)``, ``\\lfloor x \\rfloor``, ``\\sqrt{x^2}`` and ``\\ln x^2`` are analytic only between the places at which
their arguments vanish: those places are calculated from the arguments, and a point is taken on each side of each.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final

import mpmath  # type: ignore[import-untyped]

from trainer_core.rewards.mathematics.algebra.polynomials import Line, roots_on
from trainer_core.rewards.mathematics.algebra.values import CONSTANTS, NoValueError, Work, evaluate
from trainer_core.rewards.mathematics.tree import MINUS_ONE, Node, number, product, symbols, total, walk

Point = Mapping[str, Fraction]
_ORDINARY: Final = ((300, 3000, 5), (-3000, 3000, 5), (-990, 990, 3), (-30_000, 30_000, 3))
"""Bounds in thousandths, and how many points lie between."""
_STEPS: Final = (-40, -20, -9, -4, -2, -1, 0, 0.5, 1, 1.5, 2, 3, 4, 6, 9, 12, 20, 40)
"""Powers of ten of the points far away and near nothing, where the places of branches cannot be calculated."""
_SMALL_STEPS: Final = (-40, -20, -9, -4, -2, -1, 0, 0.5, 1, 1.3, 1.6, 2)
_MOST_CONSTANTS = 10
_MOST_LINES = 14
_MOST_BRANCHES = 24
_ROUNDING = {"floor", "ceiling"}
_WHOLE = {"mod", "gcd", "lcm"}
_BRANCHES = {"abs", "norm", "arccot", "ln", "arg", "Re", "Im"}


def variables(tree: Node) -> set[str]:
    """Names of the letters, and of functions that nothing is known of."""
    opaque = {one.key for one in walk(tree) if one.head == "call" and one.text.startswith("of ")}
    return (symbols(tree) - CONSTANTS) | opaque


def points(trees: Sequence[Node], chance: random.Random) -> Iterator[Point]:
    """Points for all variables of ``trees``; one without any where there is none."""
    names = sorted(set().union(*map(variables, trees)))
    if not names:
        yield {}
        return
    for low, high, count in _ORDINARY:
        for _ in range(count):
            yield {name: _between(Fraction(low, 1000), Fraction(high, 1000), chance) for name in names}
    for high, count in ((12, 4), (200, 2)):
        for _ in range(count):
            yield {name: Fraction(chance.randrange(2, high)) for name in names}
    places = _places(trees)
    if places:
        constants = _constants(trees)
        for line in _lines(names, constants, chance):
            for value in _values(places, line, trees, constants, chance):
                yield {name: start + slope * value for name, (start, slope) in line.items()}


def _between(low: Fraction, high: Fraction, chance: random.Random) -> Fraction:
    """A fraction that no round number is."""
    return low + (high - low) * Fraction(chance.randrange(1, 1_000_003) * 1009 + 1, 1009 * 1_000_003)


def _places(trees: Sequence[Node]) -> list[Node]:
    """Expressions at whose zeros a branch may begin."""
    found: dict[str, Node] = {}
    for tree in trees:
        for one in walk(tree):
            for place in _of_branch(one):
                if variables(place):
                    found.setdefault(place.key, place)
    if not _has_branch(trees):
        return []
    return list(found.values())[:_MOST_BRANCHES]


def _has_branch(trees: Sequence[Node]) -> bool:
    """Whether anything but poles cuts the lines."""
    return any(
        any(variables(place) for place in _of_branch(one)) and not _is_pole(one) for tree in trees for one in walk(tree)
    )


def _is_pole(one: Node) -> bool:
    return one.head == "power" and one.parts[1].head == "number" and one.parts[1].value.denominator == 1


def _of_branch(one: Node) -> list[Node]:
    if one.head == "power":
        base, exponent = one.parts
        is_smooth = exponent.head == "number" and exponent.value.denominator == 1 and exponent.value > 0
        return [] if is_smooth else [base]
    if one.head != "call" or one.text.startswith("of ") or one.text == "det":
        return []
    if one.text in _BRANCHES:
        return [one.parts[0]]
    if one.text == "log":
        return list(one.parts)
    if one.text in ("arcsin", "arccos"):
        return [total([one.parts[0], number(1)]), total([one.parts[0], MINUS_ONE])]
    if one.text in ("min", "max"):
        parts = one.parts[:6]
        return [total([a, product([MINUS_ONE, b])]) for n, a in enumerate(parts) for b in parts[n + 1 :]]
    if one.text in _ROUNDING:
        return [total([one.parts[0], number(-step)]) for step in range(-2, 4)]
    if one.text in _WHOLE:
        return list(one.parts)
    if one.text == "arctan":
        return [one.parts[0]]
    return []


def _constants(trees: Sequence[Node]) -> list[Fraction]:
    """Values of the parts without variables, each once; exponents and the like are among them."""
    found: dict[Fraction, None] = {}
    work = Work(50_000.0)
    for tree in trees:
        for one in walk(tree):
            if one.head == "number":
                found.setdefault(abs(one.value))
            elif one.head in ("sum", "product", "power", "call") and not variables(one) and "i" not in symbols(one):
                try:
                    found.setdefault(abs(_fraction(evaluate(one, {}, False, work).value)))
                except NoValueError:
                    continue
    found.pop(Fraction(0), None)
    return sorted(found, reverse=True)[:_MOST_CONSTANTS]


def _fraction(value: object) -> Fraction:
    sign, mantissa, exponent, _ = value._mpf_  # type: ignore[attr-defined]
    if abs(exponent) > 4_000:
        raise NoValueError
    found = Fraction(int(mantissa)) * Fraction(2) ** exponent
    return (-found if sign else found).limit_denominator(10**60)


def _lines(names: Sequence[str], constants: Sequence[Fraction], chance: random.Random) -> Iterator[Line]:
    """Lines through the space of the variables: along each axis, aslant, and through the constants."""
    if len(names) == 1:
        yield {names[0]: (Fraction(0), Fraction(1))}
        return
    made = 0
    for size in (3, -3):
        for name in names:
            if made < _MOST_LINES - 5:
                made += 1
                line = {other: (_between(Fraction(0), Fraction(size), chance), Fraction(0)) for other in names}
                yield {**line, name: (Fraction(0), Fraction(1))}
    for size in (3, 300, 30_000):
        yield {name: (_around(size, chance), _around(1, chance)) for name in names}
    for _ in range(2):
        near = [Fraction(0), *constants]
        yield {
            name: (chance.choice(near) * chance.choice((-1, 1)) + _around(Fraction(1, 50), chance), _around(1, chance))
            for name in names
        }


def _around(size: Fraction | int, chance: random.Random) -> Fraction:
    return _between(Fraction(-size), Fraction(size), chance)


def _values(
    places: Sequence[Node], line: Line, trees: Sequence[Node], constants: Sequence[Fraction], chance: random.Random
) -> Iterator[Fraction]:
    """Values of a line's parameter, in each region that the places cut it into."""
    cuts: set[Fraction] = set()
    calculable = True
    for place in places:
        zeros = roots_on(place, line)
        if zeros is None:
            calculable = False
        else:
            cuts.update(zeros)
    yield from _between_cuts(sorted(cuts), chance)
    kinds = {one.text for tree in trees for one in walk(tree) if one.head == "call"}
    if kinds & _WHOLE or _alternates(trees):
        yield from _whole_values(constants, chance)
    if not calculable or kinds & _ROUNDING:
        yield from _scattered(trees, constants, chance)


def _between_cuts(cuts: Sequence[Fraction], chance: random.Random) -> Iterator[Fraction]:
    if not cuts:
        yield _around(10, chance)
        return
    for low, high in pairwise(cuts):
        yield low + (high - low) * _between(Fraction(1, 10), Fraction(9, 10), chance)
    for size in (1, 30):
        yield cuts[0] - _between(Fraction(size, 10), Fraction(size), chance)
        yield cuts[-1] + _between(Fraction(size, 10), Fraction(size), chance)


def _alternates(trees: Sequence[Node]) -> bool:
    """Whether a negative number is raised to a variable: such as (-1)^n, which has values at whole numbers."""
    return any(one.head == "power" and variables(one.parts[1]) for tree in trees for one in walk(tree))


def _whole_values(constants: Sequence[Fraction], chance: random.Random) -> Iterator[Fraction]:
    for high in (8, 30, 100, 1000):
        for sign in (1, -1):
            yield Fraction(sign * chance.randrange(1, high))
    for constant in constants[:4]:
        if constant < 10**6:
            yield Fraction(int(constant) + chance.randrange(0, 2))


def _scattered(trees: Sequence[Node], constants: Sequence[Fraction], chance: random.Random) -> Iterator[Fraction]:
    """Values at all sizes and around the constants, for branches whose places are not those of polynomials."""
    grows = any(
        (one.head == "power" and variables(one.parts[1]))
        or (one.head == "call" and one.text in ("exp", "sinh", "cosh", "tanh", "factorial", "binomial"))
        for tree in trees
        for one in walk(tree)
    )
    for step in _SMALL_STEPS if grows else _STEPS:
        size = Fraction(10) ** int(step) * (3 if step % 1 else 1)
        for sign in (1, -1):
            yield sign * size * _between(Fraction(7, 10), Fraction(13, 10), chance)
    for constant in constants:
        for near in _images(constant):
            if not grows or near < 1000:
                for distance in (Fraction(1, 10), Fraction(1, 10**6)):
                    for sign in (1, -1):
                        share = sign * distance * _between(Fraction(1, 2), Fraction(1), chance)
                        value = near * (1 + share)
                        yield value
                        yield -value


def _images(constant: Fraction) -> list[Fraction]:
    """The constant, and where common functions take it as their value."""
    found = [constant]
    if constant < 10**6:
        found.append(constant**2)
    with mpmath.workdps(40):
        size = mpmath.mpf(constant.numerator) / constant.denominator
        if size < 100:
            found += [_fraction(mpmath.exp(size)), _fraction(mpmath.exp(-size))]
        found += [_fraction(mpmath.sqrt(size)), _fraction(abs(mpmath.log(size)))]
    return found

"""Trees of mathematical answers, and the exact arithmetic by which they are simplified while they are built."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

_LARGEST_BITS = 12_000
"""Size of exact numbers; larger ones stay powers."""
_DEEPEST = 120


class UnreadableError(Exception):
    """A text that is no mathematical answer of this grammar. The message says why."""


@dataclass(frozen=True, slots=True)
class Node:
    """A part of an answer."""

    head: str
    """Its kind: number, symbol, sum, product, power, call, quantity, words, relation, tuple, set, list, union,
    intersection, difference, matrix, row, pm, ratio, time, congruence, digits, builder, piecewise, piece."""
    parts: tuple["Node", ...] = ()
    text: str = ""
    """Name, unit, brackets or operators, by ``head``."""
    value: Fraction = Fraction(0)
    """Value of a number."""
    unit_in_last_place: Fraction | None = None
    """Value of one unit in the last place of a number that is written as a decimal; None for exact numbers."""
    key: str = ""
    """Text that is the same for equal trees."""
    depth: int = 0


def node(head: str, parts: Iterable[Node] = (), text: str = "") -> Node:
    """A node with its key. Raises UnreadableError where it is nested too deeply."""
    parts = tuple(parts)
    depth = 1 + max((part.depth for part in parts), default=0)
    if depth > _DEEPEST:
        raise UnreadableError("nested too deeply")
    return Node(head, parts, text, key=f"{head}:{text}({','.join(part.key for part in parts)})", depth=depth)


def number(value: Fraction | int, unit_in_last_place: Fraction | None = None) -> Node:
    """An exact number, or one that is written as a decimal. Raises UnreadableError where it is too large."""
    value = Fraction(value)
    if _bits(value) > _LARGEST_BITS:
        raise UnreadableError("a number that is too large")
    written = "" if unit_in_last_place is None else f"~{unit_in_last_place}"
    return Node("number", (), "", value, unit_in_last_place, f"{value}{written}")


def symbol(name: str) -> Node:
    """A variable or a constant."""
    return Node("symbol", (), name, key=f"${name}")


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


ONE, MINUS_ONE = number(1), number(-1)
PI, INFINITY = symbol("pi"), symbol("infinity")
EMPTY = symbol("emptyset")


def is_number(tree: Node) -> bool:
    """Whether ``tree`` is one number."""
    return tree.head == "number"


def negative(tree: Node) -> Node:
    """Minus ``tree``."""
    if tree.head == "number":
        return number(-tree.value, tree.unit_in_last_place)
    if tree.head == "quantity":
        return with_unit_of(tree, negative(tree.parts[0]))
    return product([MINUS_ONE, tree])


def quantity(value: Node, unit: str, scale: Fraction | int = 1) -> Node:
    """A value with its unit: ``scale`` base units, whose name is ``unit``."""
    return node("quantity", [value, number(scale)], unit)


def with_unit_of(other: Node, value: Node) -> Node:
    """``value`` in the unit of the quantity ``other``."""
    return node("quantity", [value, other.parts[1]], other.text)


def total(terms: Sequence[Node]) -> Node:
    """The sum of ``terms``. Where one of them has a unit, it is the whole sum's."""
    with_unit = [term for term in terms if term.head == "quantity"]
    if with_unit:
        if len({(term.text, term.parts[1].value) for term in with_unit}) > 1:
            raise UnreadableError("a sum of several units")
        bare = [term.parts[0] if term.head == "quantity" else term for term in terms]
        return with_unit_of(with_unit[0], total(bare))
    constant, others = Fraction(0), []
    for term in _flat("sum", terms):
        if term.head == "number":
            constant = number(constant + term.value).value
        else:
            others.append(_arithmetic(term))
    if constant or not others:
        others.append(number(constant))
    return others[0] if len(others) == 1 else node("sum", sorted(others, key=lambda one: one.key))


def product(factors: Sequence[Node]) -> Node:
    """The product of ``factors``. Where one of them has a unit, it is the whole product's."""
    with_unit = [factor for factor in factors if factor.head == "quantity"]
    if with_unit:
        if len(with_unit) > 1:
            raise UnreadableError("a product of quantities")
        bare = [factor.parts[0] if factor.head == "quantity" else factor for factor in factors]
        return with_unit_of(with_unit[0], product(bare))
    coefficient, place, others = Fraction(1), None, []
    decimals = [factor for factor in factors if factor.unit_in_last_place is not None]
    for factor in _flat("product", factors):
        if factor.head == "number":
            coefficient = number(coefficient * factor.value).value
        else:
            others.append(_arithmetic(factor))
    if not others and len(decimals) == 1 and decimals[0].value:
        scale = coefficient / decimals[0].value
        if _is_power_of_ten(abs(scale)) and decimals[0].unit_in_last_place is not None:
            place = decimals[0].unit_in_last_place * abs(scale)
    if coefficient == 0 and all(other.head == "symbol" for other in others):
        return number(0)
    if coefficient != 1 or not others:
        others.append(number(coefficient, place))
    return others[0] if len(others) == 1 else node("product", sorted(others, key=lambda one: one.key))


def power(base: Node, exponent: Node) -> Node:
    """``base`` to the ``exponent``: exact where both are numbers and the value is one, within limits."""
    if exponent.key == ONE.key:
        return base
    if base.head == "quantity":
        raise UnreadableError("a power of a quantity")
    base, exponent = _arithmetic(base), _arithmetic(exponent)
    if base.head == "number" and exponent.head == "number":
        found = _exact_power(base.value, exponent.value)
        if found is not None:
            return number(found)
    if base.head == "power" and base.parts[1].key == exponent.key == MINUS_ONE.key:
        return base.parts[0]
    return node("power", [base, exponent])


def inverse(tree: Node) -> Node:
    """One over ``tree``."""
    if tree.head == "number" and tree.value == 0:
        raise UnreadableError("division by zero")
    return power(tree, MINUS_ONE)


def call(name: str, arguments: Sequence[Node]) -> Node:
    """A function of its arguments; degrees among them become radians."""
    return node("call", [radians(argument) for argument in arguments], name)


def radians(tree: Node) -> Node:
    """An angle in degrees as a plain number; other quantities are refused."""
    if tree.head != "quantity":
        return _arithmetic(tree)
    if tree.text != "degree":
        raise UnreadableError("a function of a quantity")
    return product([tree.parts[0], PI, number(Fraction(1, 180))])


def symbols(tree: Node) -> set[str]:
    """Names of the variables and constants in ``tree``."""
    return {one.text for one in walk(tree) if one.head == "symbol"}


def walk(tree: Node) -> Iterator[Node]:
    """The node itself and all below it."""
    waiting = [tree]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += one.parts


_SCALARS = {"number", "symbol", "sum", "product", "power", "call", "pm"}


def is_scalar(tree: Node) -> bool:
    """Whether ``tree`` is an expression: no set, interval, list, relation, matrix or text."""
    return tree.head in _SCALARS


def _arithmetic(tree: Node) -> Node:
    """``tree``, if one can calculate with it."""
    if tree.head == "words" and tree.parts:
        return tree.parts[0]
    if tree.head not in _SCALARS and tree.head != "matrix":
        raise UnreadableError(f"arithmetic with a {tree.head}")
    return tree


def _flat(head: str, trees: Sequence[Node]) -> Iterator[Node]:
    for tree in trees:
        if tree.head == "words":
            tree = _arithmetic(tree)
        if tree.head == head:
            yield from tree.parts
        else:
            yield tree


def _exact_power(base: Fraction, exponent: Fraction) -> Fraction | None:
    if base == 0:
        if exponent <= 0:
            raise UnreadableError("zero to a power that is not positive")
        return Fraction(0)
    if exponent.denominator == 1:
        return base**exponent.numerator if _bits(base) * abs(exponent.numerator) <= _LARGEST_BITS else None
    if exponent.denominator == 2 and base > 0 and abs(exponent.numerator) * _bits(base) <= _LARGEST_BITS:
        over, under = isqrt(base.numerator), isqrt(base.denominator)
        if over * over == base.numerator and under * under == base.denominator:
            return Fraction(over, under) ** exponent.numerator
    return None


def _is_power_of_ten(value: Fraction) -> bool:
    over, under = value.numerator, value.denominator
    if over != 1 and under != 1:
        return False
    whole = over * under
    while whole % 10 == 0:
        whole //= 10
    return whole == 1


def to_json(tree: Node) -> list[Any]:
    """``tree`` as JSON."""
    place = tree.unit_in_last_place
    numbers = [str(tree.value), None if place is None else str(place)] if tree.head == "number" else []
    return [tree.head, tree.text, [to_json(part) for part in tree.parts], *numbers]


def from_json(document: list[Any]) -> Node:
    """The tree of ``to_json``'s document."""
    head, text, parts, *numbers = document
    if head == "number":
        return number(Fraction(numbers[0]), None if numbers[1] is None else Fraction(numbers[1]))
    if head == "symbol":
        return symbol(text)
    return node(head, [from_json(part) for part in parts], text)

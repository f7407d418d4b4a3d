"""Finite sums and products, written out: by an index, and with an ellipsis."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

from trainer_core.rewards.mathematics.rebuilding import replaced
from trainer_core.rewards.mathematics.tree import (
    Node,
    UnreadableError,
    is_number,
    is_scalar,
    number,
    product,
    total,
    walk,
)

_MOST_TERMS = 1_000
_LARGEST = 10**6
"""Last term of a sum with an ellipsis that is multiplied up to."""


def series(name: str, body: Node, index: str, first: Node, last: Node, charge: Callable[[int], None]) -> Node:
    """The sum or product of ``body`` over an index, both bounds included.

    Args:
        name: ``sum`` or ``prod``.
        charge: called with how many nodes it is written out to, before it is.

    Raises:
        UnreadableError: the bounds are no whole numbers, or too far apart.
    """
    bounds = [bound.value for bound in (first, last) if is_number(bound) and bound.value.denominator == 1]
    if len(bounds) != 2 or bounds[1] - bounds[0] >= _MOST_TERMS or not is_scalar(body):
        raise UnreadableError(f"a {name} that cannot be written out")
    low, high = map(int, bounds)
    charge(max(high - low + 1, 1) * sum(1 for _ in walk(body)))
    terms = [replaced(body, index, number(value)) for value in range(low, high + 1)]
    if not terms:
        return number(0 if name == "sum" else 1)
    return total(terms) if name == "sum" else product(terms)


def progression(terms: Sequence[Node]) -> Node | None:
    """The sum ``1+2+\\cdots+100`` of whole numbers; None where its terms are not settled.

    Three terms in front settle equal steps or equal ratios. Two settle equal steps only if these are 1, or 2, or the
    first term, and the last term is no power that would fit as well.
    """
    place = next((index for index, term in enumerate(terms) if term.text == "dots"), -1)
    if place < 2 or place != len(terms) - 2:
        return None
    values = [term.value for term in terms if is_number(term)]
    last, step, ratio = values[-1], values[1] - values[0], values[1] / values[0] if values[0] else Fraction(0)
    shown = values[:-1]
    if last <= shown[-1] or last > _LARGEST:
        return None
    by_step = all(b - a == step for a, b in pairwise(shown)) and step > 0 and (last - values[0]) % step == 0
    by_ratio = ratio > 1 and all(b == a * ratio for a, b in pairwise(shown)) and _is_power(last / values[0], ratio)
    if len(shown) == 2 and (step not in (1, 2, values[0]) or (by_ratio and step != 1)):
        return None
    if by_step:
        return number((values[0] + last) * ((last - values[0]) / step + 1) / 2)
    return number((last * ratio - values[0]) / (ratio - 1)) if by_ratio else None


def _is_power(value: Fraction, base: Fraction) -> bool:
    while value > 1 and value % base == 0:
        value /= base
    return value == 1

"""Sets of real numbers as pieces of the number line, whichever way they are written.

Ends are exact numbers or infinite; what has other ends is no such set here, and is compared by its form.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

from trainer_core.rewards.mathematics.rebuilding import REALS, as_set, is_variable
from trainer_core.rewards.mathematics.tree import EMPTY, INFINITY, Node, is_number, negative, walk

Cut = tuple[Fraction | float, int]
"""A place between two numbers: in front of a value (0) or behind it (1)."""
Cuts = tuple[Cut, ...]
"""Cuts in rising order, at which a set begins and ends by turns."""
_FIRST: Cut = (-math.inf, 1)
_LAST: Cut = (math.inf, 0)
_MINUS_INFINITY = negative(INFINITY)


def on_number_line(tree: Node) -> Cuts | None:
    """The set that ``tree`` describes: an interval, points, a condition, or several of them; None for all else."""
    if tree.key == REALS.key:
        return _FIRST, _LAST
    if tree.key == EMPTY.key:
        return ()
    reader = _READERS.get(tree.head)
    return None if reader is None else reader(tree)


def _interval(tree: Node) -> Cuts | None:
    if len(tree.parts) != 2:
        return None
    low, high = map(_value, tree.parts)
    if low is None or high is None or low >= high:
        return None
    start = _FIRST if low == -math.inf else (low, int(tree.text[0] == "("))
    return start, _LAST if high == math.inf else (high, int(tree.text[1] == "]"))


def _value(tree: Node) -> Fraction | float | None:
    if tree.key in (INFINITY.key, _MINUS_INFINITY.key):
        return math.inf if tree.key == INFINITY.key else -math.inf
    return tree.value if is_number(tree) and not tree.parts else None


def _points(tree: Node) -> Cuts | None:
    values = [part.value for part in tree.parts if is_number(part) and not part.parts]
    if len(values) != len(tree.parts):
        return None
    return _union([((value, 0), (value, 1)) for value in values])


def _relation(tree: Node) -> Cuts | None:
    if tree.text in ("=", "!=") and is_variable(tree.parts[0]) and is_number(tree.parts[1]):
        value = tree.parts[1].value
        point: Cuts = ((value, 0), (value, 1))
        return point if tree.text == "=" else _outside(point)
    if tree.text == "in" and is_variable(tree.parts[0]):
        return on_number_line(tree.parts[1])
    return _other(tree)


def _other(tree: Node) -> Cuts | None:
    found = as_set(tree)
    return None if found.key == tree.key else on_number_line(found)


def _builder(tree: Node) -> Cuts | None:
    variable, condition = tree.parts
    return on_number_line(condition) if is_variable(variable) and _unknowns(condition) == {variable.text} else None


def _unknowns(tree: Node) -> set[str]:
    return {one.text for one in walk(tree) if is_variable(one) and one.key not in (REALS.key, EMPTY.key)}


def _list(tree: Node) -> Cuts | None:
    """Conditions joined by "or" or "and". A comma joins like "and" in front of what is left out, as ``x \\ne 1``."""
    if not all(part.head == "relation" for part in tree.parts) or len(_unknowns(tree)) != 1:
        return None
    joined_by_commas = tree.text == ","
    narrows = any(part.text == "!=" or part.parts[-1].key == REALS.key for part in tree.parts)
    if joined_by_commas and not narrows:
        return None
    return _several(tree.parts, _union if tree.text == "or" else _intersection)


def _several(parts: Sequence[Node], join: Callable[[Sequence[Cuts]], Cuts]) -> Cuts | None:
    found = [cuts for part in parts if (cuts := on_number_line(part)) is not None]
    return join(found) if len(found) == len(parts) else None


def _difference(tree: Node) -> Cuts | None:
    whole, without = map(on_number_line, tree.parts)
    return None if whole is None or without is None else _intersection([whole, _outside(without)])


def _union(sets: Sequence[Cuts]) -> Cuts:
    pieces = sorted(piece for cuts in sets for piece in pairwise(cuts) if cuts.index(piece[0]) % 2 == 0)
    found: list[Cut] = []
    for start, end in pieces:
        if found and start <= found[-1]:
            found[-1] = max(found[-1], end)
        else:
            found += [start, end]
    return tuple(found)


def _outside(cuts: Cuts) -> Cuts:
    start = cuts[1:] if cuts[:1] == (_FIRST,) else (_FIRST, *cuts)
    return start[:-1] if start[-1:] == (_LAST,) else (*start, _LAST)


def _intersection(sets: Sequence[Cuts]) -> Cuts:
    return _outside(_union([_outside(cuts) for cuts in sets]))


_READERS: dict[str, Callable[[Node], Cuts | None]] = {
    "tuple": _interval,
    "set": _points,
    "relation": _relation,
    "builder": _builder,
    "list": _list,
    "difference": _difference,
    "union": lambda tree: _several(tree.parts, _union),
    "intersection": lambda tree: _several(tree.parts, _intersection),
}

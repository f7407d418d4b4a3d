"""Trees built anew with other parts: signs that are not settled, inequalities and conditions as sets."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from trainer_core.rewards.mathematics.tree import (
    EMPTY,
    INFINITY,
    MINUS_ONE,
    Node,
    call,
    is_scalar,
    negative,
    node,
    power,
    product,
    symbol,
    symbols,
    total,
    walk,
)

_REVERSED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}
REALS = symbol("reals")
PROPORTION = " as a proportion"
"""End of the names of ratios of letters."""
_DX = product([symbol("d"), symbol("x")])


_EVERYTHING = [negative(INFINITY).key, INFINITY.key]


def expanded(tree: Node) -> list[Node]:
    """``tree`` once with each upper sign of its ±, once with the lower; alone where it has none."""
    if not any(one.head == "pm" for one in walk(tree)):
        return [tree]
    return [_signed(tree, 1), _signed(tree, -1)]


def _signed(tree: Node, sign: int) -> Node:
    if tree.head == "pm":
        inner = _signed(tree.parts[0], sign)
        return negative(inner) if (sign < 0) != (tree.text == "-") else inner
    return with_parts(tree, [_signed(part, sign) for part in tree.parts])


def replaced(tree: Node, name: str, other: Node) -> Node:
    """``tree`` with ``other`` for every ``name``."""
    if tree.head == "symbol":
        return other if tree.text == name else tree
    return with_parts(tree, [replaced(part, name, other) for part in tree.parts])


_BUILDERS: dict[str, Callable[[Sequence[Node]], Node]] = {
    "sum": total,
    "product": product,
    "power": lambda parts: power(parts[0], parts[1]),
}


def with_parts(tree: Node, parts: Sequence[Node]) -> Node:
    """A node as ``tree``, with other parts."""
    if not tree.parts or tree.head == "number":
        return tree
    if tree.head in _BUILDERS:
        return _BUILDERS[tree.head](parts)
    if tree.head == "call":
        return call(tree.text, parts)
    return node(tree.head, parts, tree.text)


def as_set(tree: Node) -> Node:
    """An inequality, a condition or what a variable lies in as the interval or set that it describes; else ``tree``."""
    if tree.head == "builder":
        variable, condition = tree.parts
        if variable.head == "relation" and variable.text == "in" and variable.parts[1].key == REALS.key:
            variable = variable.parts[0]
        if not is_variable(variable) or variable.text not in symbols(condition):
            return tree  # of "2k, where k is whole" the set of the k is another one
        found = as_set(condition)
        if found.key != condition.key:
            return tree if variable.text in symbols(found) else found
        if condition.head == "relation" and condition.text == "=" and condition.parts[0].key == variable.key:
            return node("set", [condition.parts[1]])
        return tree
    if tree.head == "list" and _has_several_unknowns(tree):
        return tree
    if tree.head == "list" and tree.text == "or":
        parts = [as_set(part) for part in tree.parts]
        if all(part.head in ("tuple", "union") for part in parts):
            flat = [inner for part in parts for inner in (part.parts if part.head == "union" else (part,))]
            return node("union", sorted(flat, key=lambda part: part.key))
        return tree
    if tree.head == "list" and tree.text == "and" and len(tree.parts) == 2:
        return _both(tree)
    if tree.head == "relation":
        return _interval(tree)
    if tree.head == "tuple" and tree.text == "()" and [part.key for part in tree.parts] == _EVERYTHING:
        return REALS
    if tree.head == "difference" and tree.parts[0].key == REALS.key and tree.parts[1].head == "set":
        return _without_points(tree)
    return tree


def _has_several_unknowns(tree: Node) -> bool:
    """Whether conditions are about several letters, as in "x < 0 or y > 2", which describes no set of numbers."""
    bounded = [part for part in tree.parts if part.head == "relation"]
    return len({one.text for part in bounded for one in part.parts if is_variable(one) and one.key != REALS.key}) > 1


def _both(tree: Node) -> Node:
    """The interval that "x > 1 and x < 5" describes; ``tree`` where it is no pair of such bounds."""
    if not all(part.head == "relation" for part in tree.parts):
        return tree
    one, other = map(as_set, tree.parts)
    low, high = (one, other) if other.parts and other.parts[0].key == _EVERYTHING[0] else (other, one)
    bounds = low.head == high.head == "tuple" and len(low.parts) == len(high.parts) == 2
    if not bounds or low.parts[1].key != INFINITY.key or high.parts[0].key != _EVERYTHING[0]:
        return tree
    return node("tuple", [low.parts[0], high.parts[1]], low.text[0] + high.text[1])


def _interval(tree: Node) -> Node:
    operators = tree.text.split(" ")
    if operators == ["in"] and tree.parts[0].head == "symbol":
        return as_set(tree.parts[1])
    if operators == ["!="] and tree.parts[0].head == "symbol":
        return as_set(node("difference", [REALS, node("set", [tree.parts[1]])]))
    if len(operators) == 1 and operators[0] in _REVERSED and operators[0] not in ("=", "!="):
        left, right = tree.parts
        operator = operators[0]
        if right.head == "symbol" and not is_variable(left):
            left, right, operator = right, left, _REVERSED[operator]
        if operator.startswith("<") and left.head == "call" and left.text == "abs" and right.head == "number":
            brackets = "[]" if operator == "<=" else "()"
            return node("tuple", [negative(right), right], brackets) if is_variable(left.parts[0]) else tree
        if operator.startswith(">") and left.head == "call" and left.text == "abs" and right.head == "number":
            return _outside(left.parts[0], right, operator, tree)
        if not is_variable(left) or left.text in symbols(right):
            return tree
        closed = operator.endswith("=")
        if operator.startswith("<"):
            return node("tuple", [negative(INFINITY), right], "(]" if closed else "()")
        return node("tuple", [right, INFINITY], "[)" if closed else "()")
    if len(operators) == 2 and is_variable(tree.parts[1]):
        low, _, high = tree.parts
        if all(one.startswith(">") for one in operators):
            low, high, operators = high, low, [_REVERSED[one] for one in reversed(operators)]
        if all(one.startswith("<") for one in operators):
            return node(
                "tuple", [low, high], ("[" if "=" in operators[0] else "(") + ("]" if "=" in operators[1] else ")")
            )
    return tree


def _outside(variable: Node, bound: Node, operator: str, tree: Node) -> Node:
    """Describe ``|x| > 2`` as a union; ``tree`` where it is no such condition."""
    if not is_variable(variable) or bound.value <= 0:
        return tree
    low, high = ("(]", "[)") if operator == ">=" else ("()", "()")
    below = node("tuple", [negative(INFINITY), negative(bound)], low)
    above = node("tuple", [bound, INFINITY], high)
    return node("union", sorted([below, above], key=lambda part: part.key))


def is_variable(tree: Node) -> bool:
    """Whether ``tree`` is a letter that may stand for anything."""
    return tree.head == "symbol" and tree.text not in ("infinity", "pi", "e", "i")


def _without_points(tree: Node) -> Node:
    """All real numbers but some rational ones, as a union of intervals."""
    points = sorted(tree.parts[1].parts, key=lambda point: point.value)
    if not points or any(point.head != "number" for point in points):
        return tree
    ends = [negative(INFINITY), *points, INFINITY]
    pieces = [node("tuple", [low, high], "()") for low, high in pairwise(ends)]
    return node("union", sorted(pieces, key=lambda piece: piece.key))


def named(tree: Node) -> tuple[str | None, Node]:
    """Name and value of "x = 5"; (None, the tree) of what has none. The name is empty for words such as "answer"."""
    if tree.head != "relation":
        return None, tree
    tree = _without_steps(tree)
    if tree.head != "relation" or tree.text not in ("=", "~"):
        return None, tree
    left, right = tree.parts
    if tree.text == "~" and not is_variable(left):
        return None, left
    if left.head == "words":
        return "", right
    if (name := _measured(left)) is not None:
        return name, right
    if left.head == "symbol" and left.text not in symbols(right) and not _is_constant(left):
        return left.text.removeprefix("vec($").removesuffix(")"), right
    if left.head == "call" and left.text.startswith("of "):
        return left.key, right
    if _is_of_angle(left) and not _variables(right):
        return left.key, right
    if _is_derivative(left):
        return _prime(left) or left.key, right
    if _is_applied(left, right):
        return left.key, right
    if (name := _proportion(left)) is not None and not _variables(right):
        return name, right
    if left.head in ("tuple", "product") and right.head in ("tuple", "list"):
        return left.key, right
    return None, tree


def _is_of_angle(left: Node) -> bool:
    r"""Whether ``left`` is a circular function of an angle, such as ``\sin A``; one of x is a part of an equation."""
    if left.head != "call" or left.text not in _CIRCULAR or len(left.parts) != 1:
        return False
    angle = left.parts[0]
    if angle.head == "product":
        return all(is_variable(part) and part.text.isupper() for part in angle.parts)
    return is_variable(angle) and (angle.text.isupper() or angle.text in _ANGLES or angle.text.startswith("angle "))


def _is_applied(left: Node, right: Node) -> bool:
    """Whether ``left`` is P(A) or S(n), whose capital letter does not stand on the right."""
    if left.head != "product" or not all(map(is_variable, left.parts)):
        return False
    capitals = [part.text for part in left.parts if len(part.text) == 1 and part.text.isupper()]
    if capitals and (len(left.parts) == 2 or len(capitals) == len(left.parts)):
        return any(letter not in symbols(right) for letter in capitals)
    return not _variables(right)


def _measured(left: Node) -> str | None:
    """The name of a length such as ``|AB|`` and ``\\|v\\|``, which is that of the segment ``AB``; None for others.

    ``|x| = 5`` measures nothing: it is an equation with two solutions.
    """
    if left.head == "symbol" and left.text.startswith(_SEGMENT):
        return left.text[len("overline(") : -1]
    if left.head != "call" or left.text not in ("abs", "norm") or len(left.parts) != 1:
        return None
    inner = left.parts[0]
    if inner.head == "symbol" and inner.text.startswith(_SEGMENT):
        return inner.text[len("overline(") : -1]
    if (
        inner.head == "symbol"
        and (points := inner.text.removeprefix("vec(").removesuffix(")")).isupper()
        and len(points) > 1
    ):
        return product([symbol(point) for point in points]).key
    letters = [one.text for one in walk(inner) if is_variable(one)]
    if inner.head == "product" and all(map(is_variable, inner.parts)) and "".join(letters).isupper():
        return inner.key
    is_vector = any(letter.startswith(("vec(", "hat(")) for letter in letters)
    is_complex = inner.head == "symbol" and inner.text[:1] in ("z", "w", "v", "u")
    is_set = inner.head == "symbol" and inner.text[:1].isupper()
    measures = left.text == "norm" or is_vector or is_complex or is_set
    return f"size of {inner.key}" if letters and measures else None


_CIRCULAR = {"sin", "cos", "tan", "cot", "sec", "csc"}
_ANGLES = {"alpha", "beta", "gamma", "delta", "theta", "phi", "omega"}
_SEGMENT = "overline(product:"


def _proportion(left: Node) -> str | None:
    """The name of a ratio of letters, which is that of their quotient; None for others."""
    if left.head == "ratio":
        named_terms = all(
            is_variable(one) or (one.head == "product" and all(map(is_variable, one.parts))) for one in left.parts
        )
        return f"{left.key}{PROPORTION}" if named_terms else None
    if left.head != "product" or len(left.parts) != 2:
        return None
    over, under = sorted(left.parts, key=lambda part: part.head, reverse=True)
    is_quotient = is_variable(over) and under.head == "power" and under.parts[1].key == MINUS_ONE.key
    if not is_quotient or not is_variable(under.parts[0]):
        return None
    return f"{node('ratio', [over, under.parts[0]]).key}{PROPORTION}"


def _variables(tree: Node) -> bool:
    """Whether a letter that may stand for anything is in ``tree``."""
    return any(map(is_variable, walk(tree)))


def _is_derivative(tree: Node) -> bool:
    """Whether ``tree`` is ``dy/dx`` of some letters."""
    if tree.head != "product" or len(tree.parts) != 3:
        return False
    letters = [part for part in tree.parts if part.head == "symbol"]
    under = next((part.parts[0] for part in tree.parts if part.head == "power"), tree)
    return len(letters) == 2 and any(one.text == "d" for one in letters) and "d" in symbols(under) and under is not tree


def _prime(derivative: Node) -> str | None:
    """The name y' for dy/dx; None where the derivative is by another letter than x."""
    under = next(part.parts[0] for part in derivative.parts if part.head == "power")
    over = [part.text for part in derivative.parts if part.head == "symbol" and part.text != "d"]
    return f"{over[0]}'" if len(over) == 1 and over[0] != "x" and under.key == _DX.key else None


def _without_steps(tree: Node) -> Node:
    """``x = 2 + 3 = 5`` as ``x = 5``, and ``2 + 3 = 5`` as 5; what says that unequal numbers are equal stays."""
    if set(tree.text.split(" ")) != {"="}:
        return tree
    parts = list(tree.parts)
    while len(parts) > 1 and parts[-1].head == parts[-2].head == "number" and parts[-1].value == parts[-2].value:
        del parts[-2]
    return parts[0] if len(parts) == 1 else node("relation", parts, " ".join(["="] * (len(parts) - 1)))


def constant_values(tree: Node) -> list[Node]:
    """The values without letters at the end of a chain such as ``x = 2 + 3 = 5``: numbers, quantities, matrices."""
    if tree.head != "relation" or set(tree.text.split(" ")) != {"="}:
        return []
    found: list[Node] = []
    for part in reversed(tree.parts):
        inner = part.parts[0] if part.head == "quantity" else part
        if not (is_scalar(inner) or inner.head == "matrix") or symbols(inner) - {"pi", "e", "i"}:
            break
        found.insert(0, part)
    return found


def _is_constant(tree: Node) -> bool:
    return tree.text in ("infinity", "pi", "e", "i", "emptyset", "reals") or tree.key == EMPTY.key

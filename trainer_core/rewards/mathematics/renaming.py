"""Names that two answers may choose freely: bound letters, parameters of functions, numbered solutions."""

import re

from trainer_core.rewards.mathematics.rebuilding import is_variable, named, replaced
from trainer_core.rewards.mathematics.tree import Node, node, symbol, symbols

_WHOLE_NUMBERS = {symbol(name).key for name in ("integers", "naturals")}
_NUMBERED = re.compile(r"([A-Za-z])_([1-9])")


def renamed(tree: Node, other: Node) -> Node:
    """``tree`` with the names of ``other`` where both may choose them."""
    if tree.head == other.head == "builder" or (tree.head == other.head == "list" and tree.text == other.text):
        return _with_bound_letter(tree, other)
    if tree.head == "relation" and other.head == "relation" and tree.text == other.text == "=":
        return _as_function(tree, other)
    if tree.head == "list" and tree.text != "or":
        return _without_numbers(tree, other)
    return tree


def _with_bound_letter(tree: Node, other: Node) -> Node:
    ours, theirs = bound_letter(tree), bound_letter(other)
    if ours is None or theirs is None or ours == theirs:
        return _without_numbers(tree, other) if tree.head == "list" and tree.text != "or" else tree
    if theirs in symbols(tree):
        return tree
    return replaced(tree, ours, symbol(theirs))


def bound_letter(tree: Node) -> str | None:
    """The letter of "2k, where k is a whole number", or of a set in braces."""
    if tree.head == "builder":
        first = tree.parts[0]
        if is_variable(first):
            return first.text
        if first.head == "relation" and first.text == "in" and is_variable(first.parts[0]):
            return first.parts[0].text
        conditions = tree.parts[1].parts if tree.parts[1].head == "list" else (tree.parts[1],)
        return next((found for one in conditions if (found := _whole(one)) and found in symbols(first)), None)
    letter = _whole(tree.parts[-1])
    before = tree.parts[:-1]
    return letter if letter and any(letter in symbols(part) for part in before) else None


def _whole(tree: Node) -> str | None:
    """The k of "k is a whole number"."""
    is_membership = tree.head == "relation" and tree.text == "in" and is_variable(tree.parts[0])
    return tree.parts[0].text if is_membership and tree.parts[1].key in _WHOLE_NUMBERS else None


def without_variable(tree: Node) -> Node:
    r"""``\{x \mid x=2k, k\in\mathbb{Z}\}`` as ``\{2k \mid k\in\mathbb{Z}\}``."""
    if tree.head != "builder" or not is_variable(tree.parts[0]) or tree.parts[1].head != "list":
        return tree
    variable, conditions = tree.parts[0], tree.parts[1].parts
    first, rest = conditions[0], conditions[1:]
    is_value = first.head == "relation" and first.text == "=" and first.parts[0].key == variable.key
    if not is_value or any(variable.text in symbols(one) for one in (first.parts[1], *rest)):
        return tree
    return node("builder", [first.parts[1], rest[0] if len(rest) == 1 else node("list", rest, tree.parts[1].text)])


def without_numbers_for(tree: Node, gold: Node) -> Node:
    """``x_1 = 1, x_2 = -3`` as ``x = 1 or x = -3`` where the gold answer is a set or a list that names nothing."""
    is_bare = gold.head == "set" or (gold.head == "list" and not any(named(part)[0] for part in gold.parts))
    return _without_numbers(tree, None) if is_bare and tree.head == "list" and tree.text != "or" else tree


def _as_function(tree: Node, other: Node) -> Node:
    """``y = 2x + 1`` and ``f(t) = 2t + 1`` as ``f(x) = 2x + 1``, which ``other`` is."""
    name, value = tree.parts
    theirs = other.parts[0]
    if theirs.head != "call" or not theirs.text.startswith("of ") or len(theirs.parts) != 1:
        return tree
    parameter = theirs.parts[0]
    if not is_variable(parameter):
        return tree
    if name.key == symbol("y").key and theirs.text == "of f" and symbols(value) & {"x", "y"} == {"x"}:
        return node("relation", [theirs, value], "=") if parameter.text == "x" else tree
    same_function = name.head == "call" and name.text == theirs.text and len(name.parts) == 1
    if not same_function or not is_variable(name.parts[0]) or parameter.text in symbols(tree):
        return tree
    return replaced(tree, name.parts[0].text, parameter)


def _without_numbers(tree: Node, other: Node | None) -> Node:
    """``x_1 = 1, x_2 = -3`` as ``x = 1 or x = -3``, where ``other`` speaks of x or is None."""
    found = [_NUMBERED.fullmatch(named(part)[0] or "") for part in tree.parts]
    letters = {match[1] for match in found if match}
    numbers = sorted(int(match[2]) for match in found if match)
    if len(letters) != 1 or numbers != list(range(1, len(tree.parts) + 1)) or len(numbers) < 2:
        return tree
    letter = letters.pop()
    if other is not None and not _speaks_of(letter, other):
        return tree
    return node("list", [node("relation", [symbol(letter), named(part)[1]], "=") for part in tree.parts], "or")


def _speaks_of(letter: str, tree: Node) -> bool:
    if tree.head == "list":
        return len(tree.parts) > 1 and all(named(part)[0] == letter for part in tree.parts)
    if tree.head != "relation" or tree.parts[0].key != symbol(letter).key:
        return False
    return tree.text == "in" or (
        tree.text == "=" and any(part.head == "pm" for part in (tree.parts[1], *tree.parts[1].parts))
    )

"""Tuples whose parts are named: "(x,y)=(1,2)" and "y=2, x=1"."""

from collections.abc import Sequence
from itertools import pairwise

from trainer_core.rewards.mathematics.rebuilding import is_variable, named
from trainer_core.rewards.mathematics.tree import Node, node


def by_parts(tree: Node, other: Node) -> Node:
    """``(x,y)=(1,2)`` as the list ``x=1, y=2``, where ``other`` is a list, or a tuple whose order it changes."""
    if tree.head != "relation" or tree.text != "=":
        return tree
    left, right = tree.parts
    if left.head != "tuple" or left.text != "()" or right.head not in ("tuple", "list"):
        return tree
    if len(left.parts) != len(right.parts) or not all(map(is_variable, left.parts)):
        return tree
    spread = [node("relation", [name, value], "=") for name, value in zip(left.parts, right.parts, strict=True)]
    is_list = other.head == "list" and other.text != "or"
    moves = other.head == "tuple" and list(by_letter(spread)) != spread
    return node("list", spread, ",") if is_list or moves else tree


def by_letter(items: Sequence[Node]) -> Sequence[Node]:
    """ "y=2, x=1" in the order x, y, in which a tuple holds them; ``items`` unless their names are letters that follow
    one another in the alphabet."""
    names = [named(item)[0] or "" for item in items]
    letters = sorted(names)
    follow = all(len(name) == 1 and name.isascii() and name.isalpha() for name in names) and all(
        ord(later) - ord(earlier) == 1 for earlier, later in pairwise(letters)
    )
    if not follow:
        return items
    return [item for _, item in sorted(zip(names, items, strict=True), key=lambda pair: pair[0])]

"""Kinds of answers that a row may name: what the gold answer and the policy's are then taken for."""

from typing import Final, Literal, get_args

from trainer_core.rewards.mathematics.coordinates import by_letter
from trainer_core.rewards.mathematics.rebuilding import as_set, constant_values, expanded, named
from trainer_core.rewards.mathematics.tree import Node, is_scalar, node, symbols

AnswerKind = Literal["any", "number", "interval", "set", "tuple", "expression", "equation", "matrix", "choice", "text"]
KINDS: Final[tuple[AnswerKind, ...]] = get_args(AnswerKind)
_CONSTANTS = {"pi", "e", "i"}


def taken_as(kind: AnswerKind, tree: Node) -> Node | None:
    """``tree`` as an answer of that kind, None where it is none."""
    value = named(tree)[1]
    match kind:
        case "any":
            return tree
        case "number":
            inner = value.parts[0] if value.head == "quantity" else value
            constant = is_scalar(inner) and symbols(inner) <= _CONSTANTS and len(expanded(inner)) == 1
            if len(constant_values(tree)) > 1:
                return tree
            return value if constant or value.head in ("digits", "ratio", "time") else None
        case "interval":
            found = as_set(tree)
            return found if _is_interval(found) else None
        case "set":
            return _set(tree)
        case "tuple":
            if value.head == "list":
                return node("tuple", by_letter(value.parts), "()")
            return node("tuple", value.parts, "()") if value.head == "tuple" and value.text in ("()", "[]") else None
        case "expression":
            inner = value.parts[0] if value.head in ("quantity", "words") and value.parts else value
            return value if is_scalar(inner) else None
        case "equation":
            return tree if tree.head == "relation" and "=" in tree.text.split(" ") else None
        case "matrix":
            return value if value.head == "matrix" else None
    return None


def _is_interval(tree: Node) -> bool:
    if tree.head == "union":
        return all(_is_interval(part) or part.head == "set" for part in tree.parts)
    return (tree.head == "tuple" and len(tree.parts) == 2) or tree.text in ("reals", "emptyset")


def _set(tree: Node) -> Node | None:
    value = named(tree)[1]
    items = [value] if value.head not in ("set", "list") else list(value.parts)
    if value.head in ("relation", "tuple", "union", "words") or value.text == "emptyset":
        return as_set(value) if value.head in ("relation", "union") or value.text == "emptyset" else None
    parts = [named(one)[1] for item in items for one in expanded(item)]
    return node("set", sorted(parts, key=lambda part: part.key))

"""Lists whose items are one answer together: "2 hours and 30 minutes", and residues with one modulus."""

from itertools import pairwise

from trainer_core.rewards.mathematics.rebuilding import expanded, is_variable
from trainer_core.rewards.mathematics.tree import Node, is_number, is_scalar, node, number, quantity


def joined(tree: Node) -> Node:
    """A list as the quantity, or with the congruences, that it stands for; ``tree`` for all others.

    ``x \\ne \\pm 1`` becomes a list, too: neither value is left over.
    """
    if tree.head == "relation" and tree.text == "!=" and len(both := expanded(tree)) > 1:
        return node("list", both, "and")
    if tree.head != "list" or tree.text == "or":
        return tree
    return _as_quantity(tree) or _as_congruences(tree) or tree


def _as_quantity(tree: Node) -> Node | None:
    """``2 h and 30 min`` as 2.5 h: ever smaller units of the same kind, each less than one of the unit before."""
    parts = tree.parts
    if any(part.head != "quantity" or not is_number(part.parts[0]) for part in parts):
        return None
    in_base = [part.parts[0].value * part.parts[1].value for part in parts]
    fits = all(
        one.text == other.text and 0 <= base < one.parts[1].value and other.parts[1].value < one.parts[1].value
        for (one, other), base in zip(pairwise(parts), in_base[1:], strict=True)
    )
    scale = parts[0].parts[1].value
    return quantity(number(sum(in_base) / scale), parts[0].text, scale) if fits else None


def _as_congruences(tree: Node) -> Node | None:
    """``x \\equiv 2, 3 \\pmod 5`` as two congruences."""
    *before, last = tree.parts
    if last.head != "congruence":
        return None
    name, residues = last.text, []
    for place, part in enumerate(before):
        if place == 0 and part.head == "relation" and part.text == "=mod" and len(part.parts) == 2:
            left, part = part.parts
            name = left.text if is_variable(left) else ""
        if not is_scalar(part):
            return None
        residues.append(part)
    found = [node("congruence", [residue, last.parts[1]], name) for residue in (*residues, last.parts[0])]
    return node("list", found, tree.text)

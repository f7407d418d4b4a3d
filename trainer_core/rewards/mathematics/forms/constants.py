"""Constants that an answer may call as it likes: C of an integral and of a differential equation."""

from trainer_core.rewards.mathematics.rebuilding import replaced
from trainer_core.rewards.mathematics.tree import Node, node, symbol, symbols

_LETTERS = frozenset("CcAKk")


def with_constant_of(gold: Node, answer: Node) -> Node:
    """The answer with its constant written as the gold one writes it: ``+ c`` for ``+ C``, ``Ae^x`` for ``Ce^x``."""
    if gold.head != answer.head:
        return answer
    if gold.head == "sum":
        return _with_added(gold, answer)
    ours, theirs = _of_exponential(gold), _of_exponential(answer)
    if ours is None or theirs is None or ours == theirs or ours in symbols(answer) or theirs in symbols(gold):
        return answer
    return replaced(answer, theirs, symbol(ours))


def _with_added(gold: Node, answer: Node) -> Node:
    for ours, theirs in (("C", "c"), ("c", "C")):
        is_added = symbol(ours) in gold.parts and symbol(theirs) in answer.parts
        if is_added and theirs not in symbols(gold) and ours not in symbols(answer):
            renamed = [symbol(ours) if part.key == symbol(theirs).key else part for part in answer.parts]
            if all(theirs not in symbols(part) for part in renamed):
                return node("sum", sorted(renamed, key=lambda part: part.key))
    return answer


def _of_exponential(tree: Node) -> str | None:
    """The constant of ``Ce^{2x}``; None for anything else."""
    if tree.head != "product":
        return None
    is_exponential = any(
        (part.head == "power" and _is_power_of_e(part) and symbols(part) - {"e", "pi", "i"})
        or (part.head == "call" and part.text == "exp")
        for part in tree.parts
    )
    found = [part.text for part in tree.parts if part.head == "symbol" and part.text in _LETTERS]
    return found[0] if is_exponential and len(found) == 1 else None


def _is_power_of_e(tree: Node) -> bool:
    base = tree.parts[0]
    return base.text == "e" or (base.head == "power" and _is_power_of_e(base))


def without_added_constant(tree: Node) -> Node | None:
    """The terms beside ``+ C`` that depend on small letters; None where C is no constant of integration."""
    if tree.head != "sum" or symbol("C") not in tree.parts:
        return None
    rest = [part for part in tree.parts if part.key != symbol("C").key]
    letters = {name for part in rest for name in symbols(part)} - {"pi", "e", "i"}
    if not letters or any((len(name) > 1 and name.isupper()) or name[:1].isupper() for name in letters):
        return None
    return rest[0] if len(rest) == 1 else node("sum", rest)

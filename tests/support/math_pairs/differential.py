"""What must follow from an accepted pair: it is accepted the other way round, along chains, and not once it is changed.

Rules of docs/math-verification.md that are no equivalence are exempt, by ``one_way``: shortened decimals, per cent and
the like. Chains are followed among answers that name the same, as one side may leave out a name or a unit.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tests.support.math_pairs.pair import Pair
from trainer_core.rewards.mathematics.reading import read
from trainer_core.rewards.mathematics.rebuilding import named
from trainer_core.rewards.mathematics.tree import Node, UnreadableError, is_number, is_scalar, walk

_PERIODIC = re.compile(r"\\?(?:sin|cos|tan|cot|sec|csc)|[⌊⌈]|\\l(?:floor|ceil)|\\[bp]?mod|\|")
_NUMBER = re.compile(r"(?<![\\\w.,{}^_])\d+(?![\d.,:_])")
_LABEL = re.compile(r"\([A-J]\)|^[A-J][.:)]?(?:\s|$)")
_UNIT = re.compile(r"(?<=[\d\s{])(?:cm|km|kg|m|hours|apples|dollars|degrees)(?=$|[\s}])")
_OTHER_UNIT = {
    "cm": "kg",
    "km": "kg",
    "kg": "km",
    "m": "kg",
    "hours": "cm",
    "apples": "pears",
    "dollars": "cm",
    "degrees": "cm",
}


@dataclass(frozen=True)
class Claim:
    """A verdict that must follow from accepted pairs."""

    why: str
    gold: str
    answer: str
    right: bool


def claims(pairs: Sequence[Pair]) -> Iterator[Claim]:
    """Claims about the right ones of ``pairs``, which are boxed and graded with the defaults."""
    by_gold: dict[str, list[str]] = defaultdict(list)
    refused: dict[str, list[str]] = defaultdict(list)
    for pair in pairs:
        if isinstance(pair.gold, str) and not pair.options and not pair.whole:
            (by_gold if pair.right else refused)[pair.gold].append(pair.answer)
    for gold, answers in by_gold.items():
        for answer in dict.fromkeys(answers):
            if not one_way(gold, answer):
                yield Claim("asked back", answer, gold, True)
            yield from _changed(gold, answer)
        for before, after in pairwise(answers):
            if not any(one_way(one, other) for one, other in ((gold, before), (gold, after), (before, after))) and (
                _says(gold) == _says(before) == _says(after)
            ):
                yield Claim(f"through {gold}", before, after, True)
        for answer in dict.fromkeys(answers):
            for wrong in refused[gold][:3]:
                if not any(one_way(one, wrong) for one in (gold, answer)) and _says(gold) == _says(answer) == _says(
                    wrong
                ):
                    yield Claim(f"not through {gold}", answer, wrong, False)


def tree_of(text: str) -> Node | None:
    """The answer that ``text`` is; None if the grammar does not read it."""
    try:
        return read(text)
    except UnreadableError:
        return None


def one_way(gold: str, answer: str) -> bool:
    """Whether a rule that is no equivalence may have accepted it: of precision, per cent, bases, words or labels."""
    trees = tree_of(gold), tree_of(answer)
    if None in trees or _LABEL.search(gold) or _LABEL.search(answer):
        return True
    named_items = [_item_names(tree) for tree in trees if tree is not None]
    if max(map(len, named_items)) > 1 and not all(named_items):  # names may be left out of a list, and never added
        return True
    parts = [one for tree in trees if tree is not None for one in walk(tree)]
    if re.search(r"\(-1\)\^", gold + answer):  # has values at whole numbers alone: others may answer it
        return True
    decimals = any(is_number(one) and one.unit_in_last_place is not None for one in parts)
    return decimals or any(one.text == "percent" or one.head in ("digits", "words") for one in parts)


def _says(text: str) -> tuple[object, ...]:
    """What an answer names: its name, its kind, and its unit. Chains are followed among answers that say alike."""
    tree = tree_of(text)
    if tree is None:
        return ("unread", text)
    name, value = named(tree)
    kind = "scalar" if is_scalar(value) else value.head
    return (
        name,
        kind,
        tree.head if name is None else "",
        value.text if value.head in ("quantity", "tuple", "time", "list") else "",
        _item_names(value),
    )


def _item_names(tree: Node) -> frozenset[str]:
    """The names of a list's items."""
    return frozenset(filter(None, (named(part)[0] for part in tree.parts))) if tree.head == "list" else frozenset()


def _changed(gold: str, answer: str) -> Iterator[Claim]:
    """The answer with one thing changed, which makes it wrong whatever the gold answer is."""
    tree, wanted = tree_of(answer), tree_of(gold)
    if tree is None or wanted is None or _LABEL.search(answer):
        return
    (name, value), (gold_name, gold_value) = named(tree), named(wanted)
    changes: tuple[tuple[str, Callable[[], str | None]], ...] = (
        ("a digit", lambda: _digit(answer, tree)),
        ("a sign", lambda: _sign(answer, value, name)),
        ("a name", lambda: _name(answer, name) if gold_name else None),
        ("an order", lambda: _order(answer, value, gold_value)),
        ("a unit", lambda: _unit(answer) if gold_value.head == value.head == "quantity" else None),
    )
    for what, change in changes:
        changed = change()
        if changed is not None and tree_of(changed) is not None:
            yield Claim(f"{what} of {answer}", gold, changed, False)


def _digit(answer: str, tree: Node) -> str | None:
    found = _NUMBER.findall(answer)
    if re.fullmatch(r"(?:\\frac|[\d\s,()\[\]{}-])+", answer) and found and not re.search(r"(?<!\d)0(?!\d)", answer):
        return re.sub(r"\d+(?=\D*$)", lambda match: str(int(match[0]) + 1), answer)
    if (
        len(found) != 1
        or len(re.findall(r"\d+", answer)) != 1
        or _PERIODIC.search(answer)
        or tree.head in ("words", "congruence")
    ):
        return None
    if any(one.head in ("builder", "pm") for one in walk(tree)):
        return None
    return _NUMBER.sub(lambda match: str(int(match[0]) + 1), answer)


def _sign(answer: str, value: Node, name: str | None) -> str | None:
    if not is_scalar(value) or name is not None or "=" in answer or not re.fullmatch(r"[\w\\{}^ /().]+", answer):
        return None
    if any(one.head in ("pm", "call") or one.text in ("C", "c") for one in walk(value)) or (
        is_number(value) and not value.value
    ):
        return None
    return f"-({answer})"


def _name(answer: str, name: str | None) -> str | None:
    if not name or not re.fullmatch("[a-z]", name):
        return None
    other = "w" if name != "w" else "v"
    changed = re.sub(rf"(?<![\\A-Za-z]){name}(?![A-Za-z])", other, answer)
    return changed if changed != answer else None


def _order(answer: str, value: Node, gold_value: Node) -> str | None:
    match = re.fullmatch(r"\(([^(),]+),([^(),]+)\)", answer)
    if match is None or value.head != "tuple" or value.parts[0].key == value.parts[1].key or gold_value.head != "tuple":
        return None
    return f"({match[2]},{match[1]})"


def _unit(answer: str) -> str | None:
    found = _UNIT.findall(answer)
    return _UNIT.sub(lambda match: _OTHER_UNIT[match[0]], answer) if len(found) == 1 else None

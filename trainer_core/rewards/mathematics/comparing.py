"""Compares two answers by what they are: numbers with numbers, sets with sets. Only expressions are left to algebra."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

from trainer_core.rewards.mathematics.choices import LETTERS
from trainer_core.rewards.mathematics.coordinates import by_letter, by_parts
from trainer_core.rewards.mathematics.forms.constants import with_constant_of
from trainer_core.rewards.mathematics.forms.joining import joined
from trainer_core.rewards.mathematics.forms.number_line import on_number_line
from trainer_core.rewards.mathematics.precision import same_numbers
from trainer_core.rewards.mathematics.rebuilding import as_set, constant_values, expanded, named
from trainer_core.rewards.mathematics.renaming import renamed, without_numbers_for, without_variable
from trainer_core.rewards.mathematics.subjects import subjects
from trainer_core.rewards.mathematics.times import same_times
from trainer_core.rewards.mathematics.tree import (
    PI,
    Node,
    is_number,
    is_scalar,
    node,
    number,
    product,
    quantity,
    symbol,
    symbols,
)
from trainer_core.rewards.mathematics.units import canonical

Algebra = Callable[[Node, Node], bool]
"""Tells whether two expressions, or two equations or inequalities, mean the same."""
PLAIN_ANSWER = "0.7391"
"""An answer with which every gold one that can be compared at all is compared quickly."""
_UNIT_LETTERS = frozenset([*"msghLlNJWV", "Omega"])
_MOST_MATCHED = 100
"""Items of sets and lists that are compared each with each; of larger ones, only equally written items are equal."""
_UNORDERED = ("set", "list")
_NAMING = ("relation", "list", "builder")
_SEVERAL = {"union", "difference", "intersection", "list", "builder"}
"""Forms in which sets of numbers are written in more than one way."""
_POSITIONS = ("parallel", "perpendicular")


class AlgebraNeededError(Exception):
    """Two answers that can be compared only by calculation with expressions."""


def no_algebra(gold: Node, answer: Node) -> bool:
    """Stand-in for algebra where there is none. Raises AlgebraNeededError."""
    raise AlgebraNeededError


def same(gold: Node, answer: Node, algebra: Algebra = no_algebra, units_required: bool = False) -> bool:
    """Whether the answer is the gold one.

    Raises:
        AlgebraNeededError: as ``no_algebra`` does, where expressions must be compared.
    """
    return _Comparison(algebra, units_required).same(gold, answer)


class _Comparison:
    def __init__(self, algebra: Algebra, units_required: bool) -> None:
        self._algebra, self._units_required = algebra, units_required

    def same(self, gold: Node, answer: Node) -> bool:
        if gold.key == answer.key:
            return True
        if "words" in (gold.head, answer.head):
            return self._words(gold, answer)
        gold, answer = self._settled(joined(gold)), self._settled(joined(answer))
        gold, answer = by_parts(gold, answer), by_parts(answer, gold)
        answer = without_numbers_for(answer, gold)
        if gold.head in _NAMING and answer.head in _NAMING:
            gold, answer = without_variable(gold), without_variable(answer)
            answer = renamed(answer, gold)
            gold = renamed(gold, answer)
        if not subjects(gold).agree(subjects(answer)):
            return False
        golds, answers = expanded(gold), expanded(answer)
        if len(golds) > 1 or len(answers) > 1:
            return self._unordered(_items(golds), _items(answers), True)
        gold, answer = self._unnamed(gold, answer)
        relations = gold, answer
        gold, answer = as_set(gold), as_set(answer)
        if gold.key == answer.key or self._same_on_line(*relations):
            return True
        if gold.head != answer.head and relations[0].head == relations[1].head == "relation":
            return self._relations(*relations)  # "-x > 0" describes no interval that could be read off
        if "relation" in (gold.head, answer.head):
            return gold.head == answer.head and self._relations(gold, answer)
        if "time" in (gold.head, answer.head):
            return same_times(gold, answer, self._units_required)
        if "quantity" in (gold.head, answer.head):
            return self._quantities(gold, answer)
        if is_number(gold) and gold.parts and answer.head in _UNORDERED:
            return self.same(node("list", gold.parts, ","), answer)
        if is_number(answer) and answer.parts and gold.head in _UNORDERED:
            return self.same(gold, node("list", answer.parts, ","))
        if is_number(gold) and is_number(answer):
            return same_numbers(gold, answer)
        if is_scalar(gold) and is_scalar(answer):
            return self._algebra(gold, with_constant_of(gold, answer))
        return self._structures(gold, answer)

    def _same_on_line(self, gold: Node, answer: Node) -> bool:
        """Whether both are one set of numbers, if one of them is written with several conditions or sets."""
        if not {gold.head, answer.head} & _SEVERAL:
            return False
        ours = on_number_line(gold)
        return ours is not None and ours == on_number_line(answer)

    def _settled(self, tree: Node) -> Node:
        r"""``\binom52 = 10`` as 10: the last value of a chain of equal constants. A false chain stays a relation."""
        values = constant_values(tree)
        if len(values) < 2 or not all(self._is_step(one, other) for one, other in pairwise(values)):
            return tree
        exact = [value for value in values if value.unit_in_last_place is None]
        kept = [*tree.parts[: -len(values)], values[-1] if values[-1].head == "quantity" else (exact or values)[-1]]
        return kept[0] if len(kept) == 1 else node("relation", kept, " ".join(["="] * (len(kept) - 1)))

    def _is_step(self, one: Node, other: Node) -> bool:
        """Whether a constant equals the next one of a chain; a calculation may leave out the unit of its result."""
        if one.head != "quantity" and other.head == "quantity" and other.text not in ("percent", "degree"):
            other = other.parts[0]
        return (one.head == "quantity") == (other.head == "quantity") and self.same(one, other)

    def _words(self, gold: Node, answer: Node) -> bool:
        if gold.head == answer.head:
            return gold.text == answer.text or _are_letters(gold, answer)
        words, other = (gold, answer) if gold.head == "words" else (answer, gold)
        if words.parts and _are_chosen(words, other):
            return True
        if not words.parts or not is_scalar(other):
            name, value = named(other)
            return name == "" and value.head == "words" and value.text == words.text
        return self.same(words.parts[0], other) if words is gold else self.same(other, words.parts[0])

    def _unnamed(self, gold: Node, answer: Node) -> tuple[Node, Node]:
        """Both without "x =", where they do not name different things."""
        gold_name, gold_value = named(gold)
        answer_name, answer_value = named(answer)
        if gold_name and answer_name and gold_name != answer_name:
            return gold, answer
        if gold_name is None and gold_value.head == "relation" and gold_value.text != "in":
            return gold, answer if answer_name else answer_value
        if answer_name is None and answer_value.head == "relation" and answer_value.text != "in":
            return gold if gold_name else gold_value, answer
        return gold_value, answer_value

    def _relations(self, gold: Node, answer: Node) -> bool:
        if len(gold.parts) != len(answer.parts):
            return False
        if gold.text in _POSITIONS:
            return gold.text == answer.text and self._unordered(gold.parts, answer.parts, False)
        if len(gold.parts) == 2:
            return all(is_scalar(part) for part in (*gold.parts, *answer.parts)) and self._algebra(gold, answer)
        return gold.text == answer.text and self._ordered(gold.parts, answer.parts)

    def _quantities(self, gold: Node, answer: Node) -> bool:
        if gold.head == answer.head:
            if gold.text == answer.text:
                return self.same(_in_base_units(gold), _in_base_units(answer))
            return False
        with_unit, other = (gold, answer) if gold.head == "quantity" else (answer, gold)
        if (letters := _unit_in_letters(other, with_unit)) is not None:
            return self._quantities(gold, letters) if with_unit is gold else self._quantities(letters, answer)
        if with_unit.text == "percent":
            return self._percent(gold, answer)
        if with_unit.text == "degree" and "pi" in symbols(other):
            radians = product([with_unit.parts[0], _PI_OVER_180])
            return self.same(radians, other) if with_unit is gold else self.same(other, radians)
        if self._units_required and with_unit is gold:
            return False
        return self.same(gold.parts[0], answer) if with_unit is gold else self.same(gold, answer.parts[0])

    def _percent(self, gold: Node, answer: Node) -> bool:
        """Per cent on one side: the share, or the number of per cent where the gold one may be meant so."""
        with_unit, other = (gold, answer) if gold.head == "quantity" else (answer, gold)
        share = _in_base_units(with_unit)
        if with_unit is gold:
            return self.same(share, other) or (not self._units_required and self.same(gold.parts[0], other))
        if self.same(other, share):
            return True
        return is_number(other) and abs(other.value) > 1 and self.same(other, answer.parts[0])

    def _structures(self, gold: Node, answer: Node) -> bool:
        kinds = (gold.head, answer.head)
        if kinds == ("union", "union") or kinds == ("intersection", "intersection"):
            return self._unordered(gold.parts, answer.parts, False)
        if all(kind in _UNORDERED for kind in kinds):
            return self._lists(gold, answer)
        if kinds == ("tuple", "tuple"):
            return gold.text == answer.text and self._ordered(gold.parts, answer.parts)
        if "tuple" in kinds and "list" in kinds:
            return self._tuple_and_list(gold, answer)
        if set(kinds) & {"set"} and any(is_scalar(one) and one.key not in _SETS for one in (gold, answer)):
            return self._unordered(_items([gold]), _items([answer]), True)
        if kinds == ("piecewise", "piecewise"):
            return self._unordered(gold.parts, answer.parts, False)
        if kinds == ("ratio", "ratio"):
            return len(gold.parts) == len(answer.parts) and self._ratios(gold, answer)
        if "ratio" in kinds and (is_scalar(gold) or is_scalar(answer)):
            return self._ratio_and_fraction(gold, answer)
        if kinds == ("congruence", "congruence"):
            return self._congruences(gold, answer)
        if "digits" in kinds:
            return _same_digits(gold, answer)
        if gold.head != answer.head or gold.text != answer.text:
            return False
        return self._ordered(gold.parts, answer.parts)

    def _ordered(self, golds: Sequence[Node], answers: Sequence[Node]) -> bool:
        return len(golds) == len(answers) and all(
            self.same(one, other) for one, other in zip(golds, answers, strict=True)
        )

    def _lists(self, gold: Node, answer: Node) -> bool:
        ours, theirs = _names(gold), _names(answer)
        if max(len(ours), len(theirs)) > 1:
            if (gold.text == "or") != (answer.text == "or") or "set" in (gold.head, answer.head):
                return False
            if not theirs:  # the gold answer's names say in which order the values stand
                return self._ordered(by_letter(gold.parts), answer.parts)
            if not ours:  # values of one unknown, in any order, are no values of several unknowns
                return False
        as_sets = "set" in (gold.head, answer.head)
        golds = [one for part in gold.parts for one in expanded(part)]
        answers = [one for part in answer.parts for one in expanded(part)]
        return self._unordered(golds, answers, as_sets)

    def _unordered(self, golds: Sequence[Node], answers: Sequence[Node], as_sets: bool) -> bool:
        if max(len(golds), len(answers)) > _MOST_MATCHED:
            return sorted(one.key for one in golds) == sorted(one.key for one in answers)
        if as_sets:
            return all(any(self.same(one, other) for other in answers) for one in golds) and all(
                any(self.same(one, other) for one in golds) for other in answers
            )
        if len(golds) != len(answers):
            return False
        left = list(answers)
        for one in golds:
            found = next((place for place, other in enumerate(left) if self.same(one, other)), None)
            if found is None:
                return False
            del left[found]
        return True

    def _tuple_and_list(self, gold: Node, answer: Node) -> bool:
        """A list without brackets answers a tuple in its order; a list in square brackets needs three items or more."""
        pair, items = (gold, answer) if gold.head == "tuple" else (answer, gold)
        brackets = pair.text
        if items.text == "or" or any("infinity" in symbols(part) for part in items.parts):
            return False
        if brackets not in ("()", "[]") or (brackets == "[]" and len(gold.parts) < 3):
            return False
        if pair is gold:
            return self._ordered(gold.parts, by_letter(answer.parts))
        return self._ordered(by_letter(gold.parts), answer.parts)

    def _ratios(self, gold: Node, answer: Node) -> bool:
        """Whether all terms are in the same proportion."""
        pairs = list(zip(gold.parts, answer.parts, strict=True))
        terms = [pair for pair in pairs if not any(self.same(part, number(0)) for part in pair)]
        if len(terms) < 2:
            return self._ordered(gold.parts, answer.parts)  # a proportion to nothing holds for anything
        first, other = terms[0]
        return all(self.same(product([first, theirs]), product([other, ours])) for ours, theirs in pairs)

    def _ratio_and_fraction(self, gold: Node, answer: Node) -> bool:
        ratio, other = (gold, answer) if gold.head == "ratio" else (answer, gold)
        if len(ratio.parts) != 2 or self.same(ratio.parts[1], number(0)):
            return False
        return self.same(product([other, ratio.parts[1]]), ratio.parts[0])

    def _congruences(self, gold: Node, answer: Node) -> bool:
        if not self.same(gold.parts[1], answer.parts[1]):
            return False
        ours, theirs, modulus = gold.parts[0], answer.parts[0], gold.parts[1]
        if all(is_number(one) for one in (ours, theirs, modulus)) and modulus.value:
            return ((ours.value - theirs.value) / modulus.value).denominator == 1
        return self.same(ours, theirs)


_SETS = {symbol(name).key for name in ("emptyset", "reals", "integers", "naturals", "rationals", "complexes")}
"""Symbols that are sets themselves: the set of the empty set is another thing."""
_PI_OVER_180 = product([PI, number(Fraction(1, 180))])


def _names(tree: Node) -> set[str]:
    """Names that the items of a list have."""
    return {name for part in tree.parts if (name := named(part)[0])}


def _are_chosen(words: Node, other: Node) -> bool:
    """Whether ``ACD`` and ``A, C, D`` are the same letters of choices."""
    letters = [part.text for part in words.parts[0].parts] if words.parts else []
    if other.head not in _UNORDERED or not all(len(letter) == 1 and letter in LETTERS for letter in letters):
        return False
    is_choice = letters == sorted(set(letters)) and words.text.upper() == "".join(letters)
    return is_choice and sorted(part.text for part in other.parts if part.head == "symbol") == letters


def _are_letters(gold: Node, answer: Node) -> bool:
    """Whether ``xy`` and ``yx`` are the same letters side by side: words have a vowel, in which case order counts."""
    if not (gold.parts and answer.parts) or set(gold.text + answer.text) & set("aeiou"):
        return False
    return gold.parts[0].key == answer.parts[0].key


def _items(trees: Sequence[Node]) -> list[Node]:
    """The members of sets and lists, the trees themselves of all else; ± already written out."""
    found = []
    for tree in trees:
        _, value = named(tree)
        for part in value.parts if value.head in _UNORDERED else (value,):
            found += expanded(part)
    return found


def _in_base_units(quantity: Node) -> Node:
    value, scale = quantity.parts
    return value if scale.value == 1 else product([value, scale])


def _unit_in_letters(tree: Node, other: Node) -> Node | None:
    """ "5m", written without ``\\text{}``, as a quantity, where the other side is one of the same kind."""
    if tree.head != "product":
        return None
    for letter in tree.parts:
        if letter.head == "symbol" and letter.text in _UNIT_LETTERS:
            unit, scale = canonical({letter.text: 1})
            if unit == other.text:
                return quantity(product([part for part in tree.parts if part is not letter]), unit, scale)
    return None


def _same_digits(gold: Node, answer: Node) -> bool:
    """Digits in a base. An answer may leave the gold answer's base out; it may name base ten on its own only."""
    ours, theirs = (
        tree.text.partition("_") if tree.head == "digits" else (_plain_digits(tree), "", "") for tree in (gold, answer)
    )
    return ours[0] == theirs[0] and theirs[2] in ("", ours[2] or "10")


def _plain_digits(tree: Node) -> str:
    if is_number(tree) and tree.value.denominator == 1:
        return str(tree.value)
    return tree.text.upper() if tree.head == "symbol" else "?"

"""The one rule by which decimals stand for values that they do not write out.

- Whole numbers and fractions are exact.
- A decimal of six significant digits or more stands for a value that it is rounded from, or cut from, at its own last
  place: 0.333333 is 1/3, and 0.33 and 0.333334 are not. Between two decimals the gold one may be the shorter, never the
  answer: 1.41421356237 answers 1.414214, and 1.414214 does not answer 1.41421356237.
- A decimal of sixteen significant digits or more is a float's, and counts as rounded to fifteen.
"""

from fractions import Fraction

from trainer_core.rewards.mathematics.tree import Node, number

LEAST_DIGITS = 6
"""Significant digits from which a decimal may be rounded."""
_FLOAT_DIGITS = 16


def same_numbers(gold: Node, answer: Node) -> bool:
    """Whether two numbers are the same, by the rule of this file."""
    gold, answer = _of_float(gold), _of_float(answer)
    if gold.value == answer.value:
        return True
    if gold.unit_in_last_place is None:
        return stands_for(answer, gold.value)
    place = answer.unit_in_last_place
    if place is not None and place > gold.unit_in_last_place:
        return False
    return stands_for(gold, answer.value)


def stands_for(decimal: Node, value: Fraction) -> bool:
    """Whether a decimal with enough digits is ``value`` rounded or cut at its last place."""
    decimal = _of_float(decimal)
    place = decimal.unit_in_last_place
    if place is None or significant_digits(decimal) < LEAST_DIGITS or (decimal.value < 0) != (value < 0):
        return False
    whole, scaled = abs(decimal.value / place), abs(value / place)
    return whole in (scaled.numerator // scaled.denominator, _rounded(scaled))


def significant_digits(decimal: Node) -> int:
    """Digits of a decimal from its first that is not 0; 0 for what is no decimal."""
    if decimal.unit_in_last_place is None:
        return 0
    whole = abs(decimal.value / decimal.unit_in_last_place)
    return len(str(int(whole))) if whole else 0


def _rounded(value: Fraction) -> int:
    return int((2 * value + 1) // 2)


def _of_float(one: Node) -> Node:
    """A number that is written with more digits than a float holds, rounded to what a float is sure of."""
    digits = significant_digits(one)
    if digits < _FLOAT_DIGITS or one.unit_in_last_place is None:
        return one
    place = one.unit_in_last_place * Fraction(10) ** (digits - _FLOAT_DIGITS + 1)
    sign = 1 if one.value > 0 else -1
    return number(_rounded(abs(one.value) / place) * place * sign, place)

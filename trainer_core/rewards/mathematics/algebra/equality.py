"""Equality of expressions, equations and inequalities; only ever called in the jail.

Rational functions are decided by their residues modulo a random prime, exactly. All else is compared by values at
points in every region that branches make, to forty digits beyond what its parts differ in size by: elementary
expressions that agree so are the same, whatever they look like, and no rule of simplification needs to be found. The
points depend on both expressions, so that no answer can be fitted to them. The work is counted: what is too large in
the gold answer cannot be decided, and what is too large in the answer alone is wrong.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]

from trainer_core.rewards.mathematics.algebra.regions import Point, points, variables
from trainer_core.rewards.mathematics.algebra.residues import residues, seeded
from trainer_core.rewards.mathematics.algebra.values import (
    SPARE,
    NoValueError,
    PoleError,
    TooLargeError,
    Value,
    Work,
    evaluate,
    same_values,
)
from trainer_core.rewards.mathematics.forms.constants import without_added_constant
from trainer_core.rewards.mathematics.precision import stands_for
from trainer_core.rewards.mathematics.tree import Node, product, symbols, total, walk
from trainer_core.rewards.mathematics.tree import number as exact

_DIGITS = 60
_OPPOSITE = {">": "<", ">=": "<="}
_LEAST_POINTS = 2


class UndecidedError(Exception):
    """A gold answer that these means cannot compare with anything."""


def equal(gold: Node, answer: Node) -> bool:
    """Whether two expressions, equations or inequalities are the same.

    Raises:
        UndecidedError: the gold one has a value at none of the points, or takes too much work. Never for what the
            answer alone does.
    """
    with mpmath.workdps(_DIGITS):
        return _same_relation(gold, answer) if gold.head == "relation" else _same_expressions(gold, answer)


def check(gold: Node) -> None:
    """Calculate the gold expressions by themselves. Raises UndecidedError where that is too much."""
    with mpmath.workdps(_DIGITS):
        for side in gold.parts if gold.head == "relation" else (gold,):
            _Pairs(side, side).check_gold()


def _same_relation(gold: Node, answer: Node) -> bool:
    """Whether one is a multiple of the other: by a constant, positive where the direction counts."""
    ours, our_sign = _difference(gold)
    theirs, their_sign = _difference(answer)
    if our_sign != their_sign:
        return False
    if our_sign not in ("=", "!=", "<", "<="):
        return all(_same_expressions(one, other) for one, other in zip(gold.parts, answer.parts, strict=True))
    if "infinity" in symbols(ours) | symbols(theirs):
        return False
    found = residues(ours, theirs)
    if found is not None and found.certain and not found.proportional:
        if not any(found.gold):
            raise UndecidedError("the gold relation says nothing")
        return False
    sure = found is not None and found.proportional
    if sure and not our_sign.startswith("<"):
        return True
    return _same_ratio(_Pairs(ours, theirs), our_sign.startswith("<"), sure)


def _same_ratio(pairs: "_Pairs", directed: bool, sure: bool) -> bool:
    """Whether the values at all points have the same ratio, above 0 where the relation is ``directed``.

    One point is enough where it is known that they are ``sure`` to be proportional.
    """
    first: Any = None
    seen = 0
    for ours, theirs in pairs:
        seen += 1
        if theirs is None:
            return False
        if not ours.value or not theirs.value:  # a point of the one relation must be a point of the other
            if ours.value or theirs.value:
                return False
            continue
        ratio = theirs.value / ours.value
        if directed and not (mpmath.im(ratio) == 0 and mpmath.re(ratio) > 0):
            return False
        if first is None:
            first = ratio
        if abs(ratio - first) > mpmath.mpf(10) ** -SPARE * abs(first):
            return False
        if sure:
            return True
    if seen < min(_LEAST_POINTS, pairs.points):
        raise UndecidedError("the gold relation has a value at no point")
    if first is None:
        raise UndecidedError("the gold relation says nothing")
    return pairs.complete


def _difference(relation: Node) -> tuple[Node, str]:
    left, right = relation.parts
    sign = relation.text
    if sign in _OPPOSITE:
        left, right, sign = right, left, _OPPOSITE[sign]
    return total([left, product([exact(-1), right])]), sign


def _same_expressions(gold: Node, answer: Node) -> bool:
    if "infinity" in symbols(gold) | symbols(answer):
        return False
    constant = not variables(gold) and not variables(answer)
    if constant:
        for decimal, other, is_gold in ((answer, gold, True), (gold, answer, False)):
            if decimal.unit_in_last_place is not None:
                return _stands_for(decimal, other, is_gold)
    families = without_added_constant(gold), without_added_constant(answer)
    if families[0] is not None and families[1] is not None:
        return _same_but_for_a_constant(families[0], families[1])
    found = residues(gold, answer)
    if found is not None and (found.equal or found.certain):
        if None in found.gold:
            raise UndecidedError("the gold answer has no value")
        return found.equal
    pairs = _Pairs(gold, answer)
    seen = 0
    for ours, theirs in pairs:
        seen += 1
        if theirs is None or not same_values(ours, theirs):
            return False
    if constant and not seen and not pairs.complex_numbers:
        pairs = _Pairs(gold, answer, True)
        for ours, theirs in pairs:
            seen += 1
            if theirs is None or not same_values(ours, theirs):
                return False
    if seen < min(_LEAST_POINTS, pairs.points):
        if pairs.at_poles:
            return False
        raise UndecidedError("the gold answer has a value at no point")
    return pairs.complete


def _same_but_for_a_constant(gold: Node, answer: Node) -> bool:
    """Whether two expressions differ by the same number everywhere, as the integrals of one function do."""
    pairs = _Pairs(gold, answer)
    first: Any = None
    seen = 0
    for ours, theirs in pairs:
        seen += 1
        if theirs is None:
            return False
        difference = theirs.value - ours.value
        first = difference if first is None else first
        largest = max(ours.largest, theirs.largest, 1)
        if abs(difference - first) > mpmath.mpf(10) ** (SPARE - ours.digits) * largest + mpmath.mpf(10) ** -SPARE:
            return False
    if seen < min(_LEAST_POINTS, pairs.points):
        if pairs.at_poles:
            return False
        raise UndecidedError("the gold answer has a value at no point")
    return pairs.complete


class _Pairs:
    """Values of both expressions at the points at which the gold one has a value."""

    def __init__(self, gold: Node, answer: Node, complex_numbers: bool = False) -> None:
        self._gold, self._answer = gold, answer
        self.complex_numbers = complex_numbers or "i" in symbols(gold) | symbols(answer)
        self.points = 0
        """Points that were looked at."""
        self.at_poles = 0
        """Points that do not count: a binomial coefficient is 0 where factorials that are written for it have poles."""
        self._has_binomial = any(one.head == "call" and one.text == "binomial" for one in walk(gold))
        self.complete = True
        """Whether the work sufficed for the gold expression at all points. Where it did not, the answer asked for them:
        a gold expression that takes too much by itself is an error."""
        self._ours, self._theirs = Work(), Work()

    def __iter__(self) -> Iterator[tuple[Value, Value | None]]:
        """Values with equally many digits, None where the answer has none or takes too much work."""
        seen, too_large = 0, False
        for point in points([self._gold, self._answer], seeded(self._gold, self._answer)):
            self.points += 1
            try:
                ours = evaluate(self._gold, point, self.complex_numbers, self._ours)
            except TooLargeError:
                too_large = True
                if self._ours.left < 0:
                    break
                continue
            except NoValueError:
                continue
            try:
                both = self._both(ours, point)
            except PoleError:
                self.at_poles += 1
                continue
            seen += 1
            yield both
        if self._ours.left < 0 or (too_large and seen < min(_LEAST_POINTS, self.points)):
            self.complete = False
            self.check_gold()

    def check_gold(self) -> None:
        """Raise UndecidedError if the gold expression is too large by itself."""
        work, seen, looked_at = Work(), 0, 0
        for point in points([self._gold], seeded(self._gold)):
            looked_at += 1
            try:
                evaluate(self._gold, point, self.complex_numbers, work)
                seen += 1
            except NoValueError:
                continue
        if work.left < 0 or seen < min(_LEAST_POINTS, looked_at):
            raise UndecidedError("the numbers are too large to compare")

    def _both(self, ours: Value, point: Point) -> tuple[Value, Value | None]:
        try:
            theirs = evaluate(self._answer, point, self.complex_numbers, self._theirs, ours.digits)
            if theirs.digits > ours.digits:
                ours = evaluate(self._gold, point, self.complex_numbers, self._theirs, theirs.digits)
            return ours, theirs if theirs.digits == ours.digits else None
        except PoleError:
            if self._has_binomial and not ours.value:
                raise
            return ours, None
        except NoValueError:
            return ours, None


def _stands_for(decimal: Node, other: Node, is_gold: bool) -> bool:
    """Whether ``decimal`` is ``other`` rounded. ``is_gold`` tells whether ``other`` is the gold answer's."""
    try:
        value = evaluate(other, {}, "i" in symbols(other), Work()).value
    except TooLargeError:
        if is_gold:
            raise UndecidedError("the gold answer is too large to compare") from None
        return False
    except NoValueError:
        return False
    if mpmath.im(value):
        return False
    exact_value = _fraction(mpmath.re(value))
    if abs(exact_value - decimal.value) * 10 ** (_DIGITS - SPARE) <= max(abs(exact_value), Fraction(1)):
        return True
    return stands_for(decimal, exact_value)


def _fraction(value: Any) -> Fraction:
    sign, mantissa, exponent, _ = value._mpf_
    found = Fraction(int(mantissa)) * Fraction(2) ** exponent
    return -found if sign else found

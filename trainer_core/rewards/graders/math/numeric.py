"""Numeric comparison with the gold answer. Nothing is evaluated: numbers are only read."""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.graders.math import latex_numbers
from trainer_core.rewards.graders.reference import reference_texts
from trainer_core.rewards.reasons import tell
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import field

_CJK = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff01-\uff0f\uff1a-\uff5e"
"""Signs that stand beside numbers without a space; digits of full width are digits, and none of them."""
NUMBER = re.compile(
    rf"(?<![^\W{_CJK}])(?<![.])(?<!\d,)(?<!\{{,\}})"
    r"(?P<sign>[-+−])?(?P<whole>\d+(?:(?:,|\{,\}|\\,|,?\\!\s{0,2})\d+)*)?"
    r"(?:(?<=\d)(?:\.(?P<places>\d*))?|\.(?P<only>\d+))"
    r"(?:[eE](?P<power>[-+]?\d+))?(?:\s{0,3}/\s{0,3}(?P<under>\d+))?(?P<percent>\s{0,3}\\?%)?"
)
_GROUPED = re.compile(r"\d+|[1-9]\d{0,2}(?P<between>,|\{,\}|\\,|,?\\!\s{0,2})\d{3}(?:(?P=between)\d{3})*")
"""Digits, or thousands with one kind of separator; ``0,111`` and ``1,2`` are neither, and no number is read there."""
_SEPARATORS = re.compile(r"\D")
_LONGEST = 4000
"""Characters of a number; longer ones are none. Python itself does not read more than 4300 digits."""
_LARGEST_POWER = 400
"""Covers every float; 1e999999999 would fill the memory."""


class NumericGrader(GraderModel):
    """1 if the last number of the answer equals one of the gold numbers, else 0.

    Reads thousands separators (1,000), decimals, fractions (3/4), per cent (50% = 0.5) and powers of ten (1e3).
    """

    type: Literal["numeric"] = "numeric"
    reference: str = field("answer", min_length=1, max_length=200)
    """Field of the dataset row that holds the gold number, or a list of accepted ones. The last number of a text
    counts."""
    tolerance: float = field(0.0, ge=0.0, le=1.0)
    """Accepted difference as a share of the gold number; 0 compares exactly."""

    @property
    def row_columns(self) -> tuple[str, ...]:
        """Columns without which no row can be graded."""
        return (self.reference,)

    def grade(self, sample: Sample, item: Mapping[str, Any]) -> float:
        """1.0 or 0.0; an answer without a number is 0.0."""
        golds = [_gold_number(text) for text in reference_texts(item, self.reference)]
        wanted = " or ".join(map(_shown, golds))
        answer = last_number(sample.answer_text)
        if answer is None:
            tell(f"The answer holds no number; the gold number is {wanted}.")
            return 0.0
        allowed = "" if self.tolerance == 0 else f", and {self.tolerance:g} of it is allowed"
        tell(f"The answer's last number is {_shown(answer)}, the gold number {wanted}{allowed}.")
        return float(any(abs(answer - gold) <= Fraction(self.tolerance) * abs(gold) for gold in golds))


def _gold_number(text: str) -> Fraction:
    gold = last_number(text)
    if gold is None:
        raise GraderError(f"the gold answer {text[:60]!r} is not a number")
    return gold


def last_number(text: str) -> Fraction | None:
    """The last number in ``text``, exactly, or None. Division by zero is no number, nor is one above 4000 characters.

    A number that is a part of LaTeX is read with the whole: ``\\frac{5}{6}`` and ``2^{10}``, and never 6 and 10.
    Takes linear time. The whole text is searched: a number that began before a window would be read in part.
    """
    found = latex_numbers.last(text, NUMBER)
    if found is None or len(found) > _LONGEST:
        return None
    match = NUMBER.fullmatch(found)
    return latex_numbers.value(found) if match is None else _parse(match.groupdict())


def _shown(number: Fraction) -> str:
    """The number in short: huge ones as floats, since Python refuses to write them out."""
    if abs(number) < 10**15 and number.denominator < 10**6:
        return str(number)
    try:
        return f"{float(number):.10g}"
    except OverflowError:
        return "beyond 1e308"


def _parse(parts: Mapping[str, str | None]) -> Fraction | None:
    power, under = int(parts["power"] or 0), int(parts["under"] or 1)
    if abs(power) > _LARGEST_POWER or under == 0 or _GROUPED.fullmatch(parts["whole"] or "0") is None:
        return None
    whole = _SEPARATORS.sub("", parts["whole"] or "0")
    places = parts["places"] or parts["only"] or ""
    value = Fraction(int(whole + places), 10 ** len(places)) * Fraction(10) ** power / under
    if parts["percent"]:
        value /= 100
    return -value if parts["sign"] in ("-", "−") else value

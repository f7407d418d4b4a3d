"""Numeric comparison with the gold answer. Nothing is evaluated: numbers are only read."""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders.reference import reference_text
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import SpecModel, field

_NUMBER = re.compile(
    r"(?<![\w.])[-+−]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d{1,60})?(?:(?<=\d)(?:\.\d{1,60})?|\.\d{1,60})"
    r"(?:[eE][-+]?\d{1,2})?(?:\s{0,3}/\s{0,3}\d{1,60})?\s{0,3}%?"
)
_TAIL = 2000
"""Characters of an answer that are searched: the last number counts, and a hostile answer may be megabytes long."""


class NumericGrader(SpecModel):
    """1 if the last number of the answer equals the gold number, else 0.

    Reads thousands separators (1,000), decimals, fractions (3/4), per cent (50% = 0.5) and powers of ten (1e3).
    """

    type: Literal["numeric"] = "numeric"
    reference: str = field("answer", min_length=1, max_length=200)
    """Field of the dataset row that holds the gold number."""
    tolerance: float = field(0.0, ge=0.0, le=1.0)
    """Accepted relative difference; 0 compares exactly."""

    def grade(self, sample: Sample, item: Mapping[str, Any]) -> float:
        """1.0 or 0.0; an answer without a number is 0.0."""
        text = reference_text(item, self.reference)
        gold = last_number(text)
        if gold is None:
            raise GraderError(f"the gold answer {text[:60]!r} is not a number")
        answer = last_number(sample.answer_text)
        if answer is None:
            return 0.0
        return float(abs(answer - gold) <= Fraction(self.tolerance) * abs(gold))


def last_number(text: str) -> Fraction | None:
    """The last number in ``text``, exactly, or None. Division by zero is no number."""
    found = [match.group() for match in _NUMBER.finditer(text[-_TAIL:]) if any(c.isdigit() for c in match.group())]
    return _parse(found[-1]) if found else None


def _parse(text: str) -> Fraction | None:
    plain = "".join(text.split()).replace(",", "").replace("−", "-")
    percent = plain.endswith("%")
    numerator, _, denominator = plain.rstrip("%").partition("/")
    value = Fraction(numerator)
    if denominator:
        if int(denominator) == 0:
            return None
        value /= int(denominator)
    return value / 100 if percent else value

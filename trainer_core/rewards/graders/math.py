"""Mathematical equality with the gold answer: plain forms first, then math-verify and SymPy in the jail."""

import json
import re
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.grader_model import GraderModel, Tool
from trainer_core.rewards.graders import extract, latex
from trainer_core.rewards.graders.jail import Jail, JailError, Limits, require
from trainer_core.rewards.graders.reference import reference_text
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import field

_WORDS = re.compile(r"[^\W\d_][\w.,:;'’&/()?!-]*")


class MathGrader(GraderModel):
    """1 if the final answer equals one of the gold answers mathematically, else 0."""

    tool: ClassVar[Tool | None] = "jail"
    type: Literal["math"] = "math"
    reference: str = field("answer", min_length=1, max_length=200)
    """Field of the dataset row that holds the gold answer, as LaTeX or a number, or a list of accepted ones."""
    extraction: Literal["boxed", "last_number", "tagged", "whole"] = "boxed"
    """Where the final answer stands: the last ``\\boxed{}``, the last number (DAPO), between tags, or all of it."""
    tag_start: str = field("<answer>", min_length=1, max_length=64)
    """Opening tag, for ``tagged``."""
    tag_end: str = field("</answer>", min_length=1, max_length=64)
    """Closing tag, for ``tagged``."""
    timeout_s: float = field(2.0, gt=0.0, le=30.0, unit="s")
    """An answer that takes longer to compare is wrong; a gold answer that takes longer to read is an error."""

    @property
    def needs_packages(self) -> bool:
        """True: SymPy's."""
        return True

    def grade(self, sample: Sample, item: Mapping[str, Any], jail: Jail | None = None) -> float:
        """1.0 or 0.0.

        Raises:
            GraderError: the gold answer cannot be read, or is neither mathematics nor words.
            JailError: only SymPy can decide, and there is no jail.
        """
        golds = [_bare(gold) for gold in _golds(item, self.reference)]
        answer = self._answer(sample.answer_text)
        if not answer:
            return 0.0
        return float(any(self._equal(gold, answer, jail) for gold in golds))

    def _answer(self, text: str) -> str | None:
        match self.extraction:
            case "boxed":
                boxes = extract.boxed(text)
                return boxes[-1] if boxes else None
            case "last_number":
                return extract.last_number_text(text)
            case "tagged":
                return extract.tagged(text, self.tag_start, self.tag_end)
            case "whole":
                return _bare(text)

    def _equal(self, gold: str, answer: str, jail: Jail | None) -> bool:
        plain_gold, plain_answer = latex.normal(gold), latex.normal(answer)
        if plain_gold == plain_answer:
            return True
        gold_number, answer_number = latex.number(plain_gold), latex.number(plain_answer)
        if gold_number is not None and answer_number is not None:
            return gold_number == answer_number
        gold_digits, answer_digits = latex.in_base(plain_gold), latex.in_base(plain_answer)
        if gold_digits is not None and answer_digits is not None:
            return gold_digits == answer_digits  # math-verify does not look at the base
        if not latex.is_safe(gold):
            return _same_words(plain_gold, plain_answer)
        if not plain_answer or not latex.is_safe(answer):
            return False
        outcome = require(jail).equal(gold, answer, Limits(wall_s=self.timeout_s, memory_mb=1024))
        lines = outcome.result.splitlines()
        if not lines and not outcome.ok:
            raise GraderError(f"the gold answer {gold[:60]!r} cannot be read in {self.timeout_s:g} s and 1 GiB")
        try:
            understood = json.loads(lines[0])["gold"] is True
            # What SymPy cannot digest in time and memory is no answer.
            equal = outcome.ok and json.loads(lines[1])["equal"] is True
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise JailError(f"SymPy gave no verdict: {error}") from error
        return equal or (not understood and _same_words(plain_gold, plain_answer))


def _golds(item: Mapping[str, Any], name: str) -> list[str]:
    value = item.get(name)
    if isinstance(value, list | tuple):
        if not value:
            raise GraderError(f"the field {name!r} lists no gold answer")
        return [reference_text({name: gold}, name) for gold in value]
    return [reference_text(item, name)]


def _bare(text: str) -> str:
    """The final answer of a gold text: its last box, or what follows GSM8K's four hashes, or all of it."""
    boxes = extract.boxed(text)
    return boxes[-1] if boxes else text.rpartition("####")[2].strip()


def _same_words(gold: str, answer: str) -> bool:
    if not _WORDS.fullmatch(gold):
        raise GraderError(f"the gold answer {gold[:60]!r} is neither mathematics nor words")
    return gold.casefold() == answer.casefold()

"""Mathematical equality with the gold answer: by form where that decides, else by calculation in the jail."""

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Literal

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.grader_model import GraderModel, Tool
from trainer_core.rewards.graders.jail import Jail, JailError, Limits, require
from trainer_core.rewards.graders.math import extract
from trainer_core.rewards.graders.math.math_gold import Gold, gold_answers
from trainer_core.rewards.graders.reference import reference_texts
from trainer_core.rewards.mathematics import choices
from trainer_core.rewards.mathematics.comparing import PLAIN_ANSWER, AlgebraNeededError, same
from trainer_core.rewards.mathematics.kinds import KINDS, AnswerKind, taken_as
from trainer_core.rewards.mathematics.reading import read
from trainer_core.rewards.mathematics.tokens import LONGEST, canonical_text
from trainer_core.rewards.mathematics.tree import Node, UnreadableError, to_json
from trainer_core.rewards.reasons import quoted, tell
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import field

WALL_S = 60.0
"""Wall clock that a comparison may take at least, whatever its processor time: machines are busy."""
_WALL_FOR_CPU = 20.0
_CPU_FOR_CPU = 2.0
"""A comparison that is not finished is followed by one with the gold answer alone."""
_CPU_TO_END_S = 1.0
"""Processor time in which a comparison that cannot be interrupted is ended from outside."""
_MEMORY_MB = 1024


class MathGrader(GraderModel):
    """1 if the final answer equals one of the gold answers mathematically, else 0.

    Whole numbers and fractions are compared exactly. A decimal of six significant digits or more also stands for what
    it is rounded or cut from. Order counts in tuples, not in sets and lists; brackets tell intervals, tuples and sets
    apart. A comparison that cannot be finished is an error, never a 0.
    """

    tool: ClassVar[Tool | None] = "jail"
    type: Literal["math"] = "math"
    reference: str = field("answer", min_length=1, max_length=200)
    """Field of the dataset row that holds the gold answer, as LaTeX or a number, or a list of accepted ones. All boxes
    of a gold answer count: "\\boxed{2}, \\boxed{3}" is a list of two."""
    extraction: Literal["auto", "boxed", "last_number", "tagged", "whole"] = "auto"
    """Where the final answer stands: wherever prompts ask for it (auto), the last ``\\boxed{}``, the last number
    (DAPO), between tags, or all of it. Auto takes the first that is there of: the last box, ``<answer>`` tags, GSM8K's
    ``####``, "the answer is …", a number in the last line."""
    tag_start: str = field("<answer>", min_length=1, max_length=64)
    """Opening tag, for ``tagged``."""
    tag_end: str = field("</answer>", min_length=1, max_length=64)
    """Closing tag, for ``tagged``."""
    answer_type: AnswerKind = "any"
    """Kind of the answers. With another than ``any``, an answer of another kind is wrong, and a gold answer of another
    kind an error. ``(1,2)`` is an interval as well as a tuple, and only this tells which. Letters of a ``choice`` count
    whatever their case, and ``text`` is compared as text."""
    answer_type_field: str | None = field(None, min_length=1, max_length=200)
    """Field of the dataset row that names its kind; rows without it have ``answer_type``."""
    units: Literal["optional", "required"] = "optional"
    """Whether an answer may leave the gold answer's unit out. Where both have one, they must be the same after
    conversion: 1 km is 1000 m, and 5 km is not 5 m. A unit that only the answer has is always allowed. A percentage
    equals its share, 50% = 0.5, and, where units are optional, the bare number of per cent; a gold number above 1 may
    be answered with a percent sign."""
    timeout_s: float = field(2.0, gt=0.0, le=30.0, unit="s")
    """Processor time that a comparison may take; one that takes more is an error."""

    @property
    def needs_packages(self) -> bool:
        """True: SymPy's."""
        return True

    @property
    def place(self) -> str:
        """Words for the place where the final answer is looked for."""
        match self.extraction:
            case "boxed":
                return "\\boxed{}"
            case "tagged":
                return f"{self.tag_start} … {self.tag_end}"
            case "last_number":
                return "last number"
            case "whole":
                return "text"
            case "auto":
                return "final answer"

    @property
    def row_columns(self) -> tuple[str, ...]:
        """Columns without which no row can be graded."""
        return (self.reference,)

    def grade(self, sample: Sample, item: Mapping[str, Any], jail: Jail | None = None) -> float:
        """1.0 or 0.0.

        Raises:
            GraderError: the gold answer cannot be read, is of another kind than the row says, or a comparison could not
                be finished.
            JailError: only calculation can decide, and there is no jail.
        """
        kind = self._kind(item)
        golds = [gold for text in reference_texts(item, self.reference) for gold in gold_answers(text, kind)]
        answer = self._answer(sample.answer_text)
        if (
            self.extraction == "auto"
            and any(gold.letter for gold in golds)
            and not extract.has_place(sample.answer_text)
        ):
            answer = choices.in_prose(sample.answer_text) or answer
        wanted = " or ".join(quoted(gold.text) for gold in golds)
        if not answer:
            tell(f"The answer has no {self.place}; the gold answer is {wanted}.")
            return 0.0
        if kind in ("any", "number") and not any(gold.letter or gold.text == answer for gold in golds):
            answer = choices.without_label(answer)
        comparison = _ReadAnswer(answer, kind, self, jail)
        failure: GraderError | None = None
        for gold in golds:
            try:
                if comparison.equals(gold):
                    tell(f"Reads {quoted(answer)}, which equals the gold answer {quoted(gold.text)}.")
                    return 1.0
            except JailError:
                raise
            except GraderError as error:  # another gold answer may be the one
                failure = failure or error
        if failure is not None:
            raise failure
        tell(f"Reads {quoted(answer)}, which does not equal the gold answer {wanted}.")
        return 0.0

    def _kind(self, item: Mapping[str, Any]) -> AnswerKind:
        named = None if self.answer_type_field is None else item.get(self.answer_type_field)
        if named is None:
            return self.answer_type
        for kind in KINDS:
            if named == kind:
                return kind
        raise GraderError(
            f"the field {self.answer_type_field!r} holds {str(named)[:40]!r}; kinds are {', '.join(KINDS)}"
        )

    def _answer(self, text: str) -> str | None:
        match self.extraction:
            case "auto":
                return extract.final_answer(text)
            case "boxed":
                return extract.boxed_answer(text)
            case "last_number":
                return extract.last_number_text(text)
            case "tagged":
                return extract.tagged(text, self.tag_start, self.tag_end)
            case "whole":
                return extract.unwrapped(text)


class _ReadAnswer:
    """An answer, which may be compared with several gold ones."""

    def __init__(self, text: str, kind: AnswerKind, grader: MathGrader, jail: Jail | None) -> None:
        self._text, self._kind, self._grader, self._jail = text, kind, grader, jail

    @cached_property
    def _tree(self) -> Node | None:
        """The answer, as one of its kind; None where it is none that can be read."""
        try:
            return taken_as(self._kind, read(self._text))
        except UnreadableError:
            return None

    def equals(self, gold: Gold) -> bool:
        """Whether the answer is ``gold``."""
        if gold.text == self._text or gold.plain == canonical_text(self._text, gold.is_text):
            return True
        if gold.letter is not None and (letter := self._letter()) is not None:
            return letter == gold.letter
        if self._kind == "choice" or (gold.tree is None and gold.is_text):
            return False
        if gold.tree is None:
            return self._by_math_verify(gold)
        if self._tree is None:
            return False
        try:
            return same(gold.tree, self._tree, units_required=self._grader.units == "required")
        except AlgebraNeededError:
            trees = [to_json(gold.tree), to_json(self._tree)]
            required = self._grader.units == "required"
            return self._ask(gold.text, {"trees": trees, "units_required": required})[1]
        except UnreadableError:
            return False

    def _letter(self) -> str | None:
        found = choices.alone(self._text)
        if found is not None:
            return found if self._kind == "choice" or found in self._text else None
        before = choices.in_front(self._text)
        return None if before is None else before[0]

    def _by_math_verify(self, gold: Gold) -> bool:
        """Whether math-verify and SymPy say so of what the grammar does not know, such as integrals."""
        if not gold.is_safe:
            raise GraderError(f"the gold answer {gold.text[:60]!r} is neither mathematics nor words")
        if len(self._text) > LONGEST or not extract.is_safe(self._text):
            return False
        understood, equal = self._ask(gold.text, {"latex": [gold.text, self._text]})
        if not understood:
            raise GraderError(f"the gold answer {gold.text[:60]!r} is neither mathematics nor words")
        return equal

    def _ask(self, gold: str, comparison: dict[str, Any]) -> tuple[bool, bool]:
        """(whether the gold answer is mathematics, whether they are equal).

        Where an answer brings the jail to its limits and a plain number does not, that answer is wrong. Raises
        GraderError where the gold answer does.
        """
        try:
            return self._told(gold, comparison)
        except _LimitError:
            plain = (
                {"latex": [gold, PLAIN_ANSWER]} if "latex" in comparison else {"trees": [comparison["trees"][0]] * 2}
            )
            self._told(gold, {**comparison, **plain})
            return True, False

    def _told(self, gold: str, comparison: dict[str, Any]) -> tuple[bool, bool]:
        cpu_s = self._grader.timeout_s
        wall_s = max(WALL_S, cpu_s * _WALL_FOR_CPU)
        limits = Limits(wall_s=wall_s, memory_mb=_MEMORY_MB, cpu_s=_CPU_FOR_CPU * cpu_s + _CPU_TO_END_S)
        outcome = require(self._jail).equal({**comparison, "cpu_s": cpu_s}, limits)
        lines = outcome.result.splitlines()
        if not outcome.ok:
            what = "cannot be read" if not lines else "cannot be compared with the answer"
            how = {
                "wall": f"in {wall_s:g} s",
                "cpu": f"in {limits.cpu_s:g} s of processor time",
                "memory": f"in {_MEMORY_MB} MiB",
            }.get(outcome.end, "to the end")
            raise _LimitError(f"the gold answer {gold[:60]!r} {what} {how}")
        try:
            verdict = json.loads(lines[-1])
            understood = len(lines) > 1 and json.loads(lines[0])["gold"] is True
            if "unfinished" in verdict:
                what = "cannot be compared with the answer" if len(lines) > 1 else "cannot be read"
                raise GraderError(f"the gold answer {gold[:60]!r} {what}: {verdict['unfinished']}")
            return understood, verdict["equal"] is True
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise JailError(f"the jail gave no verdict: {error}") from error


class _LimitError(GraderError):
    """A comparison that the jail has ended."""

"""Exact comparison with the gold answer."""

from collections.abc import Mapping
from typing import Any, Literal

from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.graders.reference import reference_text
from trainer_core.rewards.reasons import quoted, tell
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import field


class ExactGrader(GraderModel):
    """1 if the answer is the gold answer, else 0."""

    type: Literal["exact"] = "exact"
    reference: str = field("answer", min_length=1, max_length=200)
    """Field of the dataset row that holds the gold answer."""
    strip: bool = True
    """Ignore white space at both ends."""
    ignore_case: bool = False
    """Ignore the difference between capitals and small letters."""

    def grade(self, sample: Sample, item: Mapping[str, Any]) -> float:
        """1.0 or 0.0. Raises GraderError if the gold answer is empty."""
        gold, answer = reference_text(item, self.reference), sample.answer_text
        if self.strip:
            gold, answer = gold.strip(), answer.strip()
        if self.ignore_case:
            gold, answer = gold.casefold(), answer.casefold()
        tell(f"The answer is {quoted(answer)}, the gold answer {quoted(gold)}.")
        return float(answer == gold)

"""Exact comparison with the gold answer."""

from collections.abc import Mapping
from typing import Any, Literal

from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.graders.reference import reference_texts
from trainer_core.rewards.reasons import quoted, tell
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import field


class ExactGrader(GraderModel):
    """1 if the answer is one of the gold answers, else 0."""

    type: Literal["exact"] = "exact"
    reference: str = field("answer", min_length=1, max_length=200)
    """Field of the dataset row that holds the gold answer, or a list of accepted ones."""
    strip: bool = True
    """Ignore white space at both ends."""
    ignore_case: bool = False
    """Ignore the difference between capitals and small letters."""

    @property
    def row_columns(self) -> tuple[str, ...]:
        """Columns without which no row can be graded."""
        return (self.reference,)

    def grade(self, sample: Sample, item: Mapping[str, Any]) -> float:
        """1.0 or 0.0. Raises GraderError if a gold answer is empty."""
        golds = [self._compared(text) for text in reference_texts(item, self.reference)]
        answer = self._compared(sample.answer_text)
        tell(f"The answer is {quoted(answer)}, the gold answer {' or '.join(map(quoted, golds))}.")
        return float(answer in golds)

    def _compared(self, text: str) -> str:
        text = text.strip() if self.strip else text
        return text.casefold() if self.ignore_case else text

"""A regular expression."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import field_validator

from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.graders.text.pattern import check_pattern, matches
from trainer_core.rewards.reasons import quoted, tell
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import field


class RegexGrader(GraderModel):
    """1 if the answer, white space at its ends aside, matches the whole pattern, else 0."""

    type: Literal["regex"] = "regex"
    pattern: str = field(min_length=1, max_length=500)
    """Regular expression. An answer above 20 000 characters never matches."""

    _is_safe = field_validator("pattern")(check_pattern)

    def grade(self, sample: Sample, item: Mapping[str, Any]) -> float:
        """1.0 or 0.0. Raises GraderError where matching takes too long."""
        answer = sample.answer_text.strip()
        fits = matches(self.pattern, answer)
        tell(f"The answer {quoted(answer)} {'matches' if fits else 'does not match'} the whole pattern.")
        return float(fits)

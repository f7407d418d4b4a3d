"""Format: tags used once and in order, and an answer of the asked shape."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import field_validator, model_validator

from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.graders.text.pattern import check_pattern, matches
from trainer_core.rewards.reasons import quoted, tell
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import field


class FormatGrader(GraderModel):
    """1 if the completion has the asked form, else 0."""

    type: Literal["format"] = "format"
    thinking_start: str = field("<think>", min_length=1, max_length=64)
    """Tag that opens the thinking."""
    thinking_end: str = field("</think>", min_length=1, max_length=64)
    """Tag that closes the thinking."""
    require_thinking: bool = True
    """The completion must think. If off, it may think, but then in the right form."""
    answer_pattern: str | None = field(None, max_length=500)
    """Regular expression that the whole answer must match, white space at its ends aside. An answer above 20 000
    characters never does. Empty: any answer that is not blank."""

    @field_validator("answer_pattern")
    @classmethod
    def _is_safe(cls, pattern: str | None) -> str | None:
        return None if pattern is None else check_pattern(pattern)

    @model_validator(mode="after")
    def _tags_are_distinct(self) -> "FormatGrader":
        if self.thinking_start in self.thinking_end or self.thinking_end in self.thinking_start:
            raise ValueError("neither thinking tag may be part of the other")
        return self

    def grade(self, sample: Sample, item: Mapping[str, Any]) -> float:
        """1.0 or 0.0."""
        text = sample.output_text
        opened, closed = text.count(self.thinking_start), text.count(self.thinking_end)
        if opened == closed == 0:
            if self.require_thinking:
                tell("The completion does not think.")
            return float(not self.require_thinking and self._answer_fits(text))
        if opened != 1 or closed != 1:
            start, end = self.thinking_start, self.thinking_end
            tell(f"{start} stands {opened} times and {end} {closed} times, and each must stand once.")
            return 0.0
        if not text.lstrip().startswith(self.thinking_start):
            tell(f"The completion begins with {quoted(text.lstrip()[:40])}, not with {self.thinking_start}.")
            return 0.0
        return float(self._answer_fits(text.partition(self.thinking_end)[2]))

    def _answer_fits(self, answer: str) -> bool:
        answer = answer.strip()
        if not answer and self.answer_pattern is None:
            tell("There is no answer.")
            return False
        fits = self.answer_pattern is None or matches(self.answer_pattern, answer, "answer_pattern")
        tell("The form is right." if fits else f"The answer {quoted(answer)} does not match the pattern.")
        return fits

"""Format: tags used once and in order, and an answer of the asked shape."""

from collections.abc import Mapping
from typing import Any, Literal

import regex
from pydantic import field_validator

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import SpecModel, field

_PATTERN_SECONDS = 0.2


class FormatGrader(SpecModel):
    """1 if the completion has the asked form, else 0."""

    type: Literal["format"] = "format"
    thinking_start: str = field("<think>", min_length=1, max_length=64)
    """Tag that opens the thinking."""
    thinking_end: str = field("</think>", min_length=1, max_length=64)
    """Tag that closes the thinking."""
    require_thinking: bool = True
    """The completion must think. If off, it may think, but then in the right form."""
    answer_pattern: str | None = field(None, max_length=500)
    """Regular expression that the whole answer must match. Empty: any answer that is not blank."""

    @field_validator("answer_pattern")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            try:
                regex.compile(pattern)
            except regex.error as error:
                raise ValueError(f"not a regular expression: {error}") from error
        return pattern

    def grade(self, sample: Sample, item: Mapping[str, Any]) -> float:
        """1.0 or 0.0."""
        text = sample.output_text
        opened, closed = text.count(self.thinking_start), text.count(self.thinking_end)
        if opened == closed == 0:
            return float(not self.require_thinking and self._answer_fits(text))
        if opened != 1 or closed != 1 or not text.lstrip().startswith(self.thinking_start):
            return 0.0
        thinking, _, answer = text.partition(self.thinking_end)
        return float(self.thinking_start in thinking and self._answer_fits(answer))

    def _answer_fits(self, answer: str) -> bool:
        if self.answer_pattern is None:
            return bool(answer.strip())
        try:
            return regex.fullmatch(self.answer_pattern, answer.strip(), timeout=_PATTERN_SECONDS) is not None
        except TimeoutError:
            raise GraderError(f"answer_pattern took longer than {_PATTERN_SECONDS} s; simplify it") from None

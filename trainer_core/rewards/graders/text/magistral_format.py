"""Magistral's format reward (arXiv 2506.10910, section 2.2.1)."""

import re
from collections.abc import Mapping
from typing import Any, Literal

from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.graders.math.extract import boxed
from trainer_core.rewards.reasons import tell
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import field

_FENCE = re.compile(r"^```[a-z0-9+#]+[ \t]*$", re.MULTILINE | re.IGNORECASE)


class MagistralFormatGrader(GraderModel):
    """1 if the output begins with its thinking, has each tag once, and its answer holds what is asked, else 0."""

    type: Literal["magistral_format"] = "magistral_format"
    thinking_start: str = field("<think>", min_length=1, max_length=64)
    """Tag that opens the thinking."""
    thinking_end: str = field("</think>", min_length=1, max_length=64)
    """Tag that closes the thinking."""
    answer: Literal["boxed", "fenced"] = "boxed"
    """Exactly one ``\\boxed{}`` (mathematics), or at least one fenced block that names its language (code)."""

    def grade(self, sample: Sample, item: Mapping[str, Any]) -> float:
        """1.0 or 0.0."""
        text = sample.output_text
        once = text.count(self.thinking_start) == text.count(self.thinking_end) == 1
        if not once:
            tell(f"{self.thinking_start} and {self.thinking_end} do not stand once each.")
            return 0.0
        if not text.lstrip().startswith(self.thinking_start):
            tell(f"The output does not begin with {self.thinking_start}.")
            return 0.0
        answer = text.partition(self.thinking_end)[2]
        if self.answer == "boxed":
            boxes = len(boxed(answer))
            tell(f"The answer holds {boxes} \\boxed{{}}, and one is asked for.")
            return float(boxes == 1)
        fenced = _FENCE.search(answer) is not None
        tell(f"The answer holds {'a' if fenced else 'no'} fenced block that names its language.")
        return float(fenced)

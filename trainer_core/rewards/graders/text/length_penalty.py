"""Length penalty: long completions cost."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.reasons import tell
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import field


class LengthPenaltyGrader(GraderModel):
    """0 up to ``free`` tokens, then linear down to −1 at ``full`` tokens and beyond."""

    needs_length: ClassVar[bool] = True
    type: Literal["length_penalty"] = "length_penalty"
    free: int = field(0, ge=0, unit="tokens")
    """Length that costs nothing."""
    full: int = field(1024, ge=1, unit="tokens")
    """Length that costs the whole weight of the component."""

    @model_validator(mode="after")
    def _is_ordered(self) -> "LengthPenaltyGrader":
        if self.full <= self.free:
            raise ValueError("full must be above free")
        return self

    def grade(self, sample: Sample, item: Mapping[str, Any]) -> float:
        """Grade between −1.0 and 0.0. Raises GraderError where nobody knows the length."""
        if sample.completion_tokens is None:
            raise GraderError("the sample's number of tokens is not known")
        tell(f"{sample.completion_tokens} tokens; {self.free} cost nothing, {self.full} the whole weight.")
        over = (sample.completion_tokens - self.free) / (self.full - self.free)
        return 0.0 - min(max(over, 0.0), 1.0)

"""Parameters and advice of Repetition."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import FilterModel
from trainer_core.spec.watched import LENGTH


class RepetitionFilter(FilterModel):
    """Exclude completions that ended in a loop: stopped by the engine, or detected by their last tokens."""

    model_config = method_doc(
        "Repetition",
        "mask when finish_reason = repetition, or the last tokens are one pattern of at most max_period tokens, "
        "min_repeats times over",
        "MiniMax-M1 (arXiv 2506.13585), §3.2 (early truncation of repetitive generation)",
    )
    advice: ClassVar[Advice] = Advice(
        "When completions end in loops.",
        LENGTH,
    )
    before_rewards: ClassVar[bool] = True
    type: Literal["repetition"] = "repetition"
    max_period: int = field(16, ge=1, le=1024, unit="tokens")
    """Longest pattern that is detected."""
    min_repeats: int = field(8, ge=2, le=100_000)
    """Least repetitions of the pattern at the end."""

"""Parameters and advice of Overlong by length."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import FilterModel
from trainer_core.spec.watched import LENGTH


class OverlongFilter(FilterModel):
    """Exclude completions above a separate limit, independent of the engine's."""

    model_config = method_doc("Overlong by length", "mask when |o| > max_tokens", "DAPO (arXiv 2503.14476), §3.4")
    advice: ClassVar[Advice] = Advice(
        "When only completions up to your own limit should train.",
        LENGTH,
    )
    before_rewards: ClassVar[bool] = True
    type: Literal["overlong"] = "overlong"
    max_tokens: int = field(ge=1, le=1_048_576, unit="tokens")
    """Longest completion that is learned from."""

"""Parameters and advice of Overlong filtering."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, method_doc
from trainer_core.spec.methods.kinds import FilterModel
from trainer_core.spec.watched import LENGTH


class TruncatedFilter(FilterModel):
    """Exclude completions that were cut at the maximum length (overlong filtering)."""

    model_config = method_doc("Overlong filtering", "mask when finish_reason = length", "DAPO (arXiv 2503.14476), §3.4")
    advice: ClassVar[Advice] = Advice(
        "When the maximum length cuts off answers that might have become right.",
        LENGTH,
    )
    before_rewards: ClassVar[bool] = True
    type: Literal["truncated"] = "truncated"

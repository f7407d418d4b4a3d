"""Parameters and advice of MaxRL."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, method_doc
from trainer_core.spec.methods.kinds import GroupAdvantage
from trainer_core.spec.watched import GROUP


class MaxRLAdvantage(GroupAdvantage):
    """Maximum likelihood: the gradient of the log pass rate instead of the pass rate, so that hard prompts count more.

    Made for rewards of 0 and 1. A group whose mean is 0 or below has advantage 0.
    """

    model_config = method_doc(
        "MaxRL",
        "A_i = (r_i − mean(r)) / mean(r), 0 where mean(r) ≤ 0",
        "Maximum Likelihood Reinforcement Learning (arXiv 2602.02710)",
    )
    advice: ClassVar[Advice] = Advice(
        "Rewards of 0 and 1 with many hard prompts: their rare successes count more. Needs large groups.",
        (*GROUP, "actor/grad_norm"),
    )
    type: Literal["maxrl"] = "maxrl"

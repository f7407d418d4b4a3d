"""Parameters and advice of Dr. GRPO."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, method_doc
from trainer_core.spec.methods.kinds import GroupAdvantage
from trainer_core.spec.watched import GROUP


class DrGRPOAdvantage(GroupAdvantage):
    """Group-relative advantage without division by the standard deviation, which favours easy and hard prompts."""

    model_config = method_doc(
        "Dr. GRPO", "A_i = r_i − mean(r)", "Understanding R1-Zero-like training (arXiv 2503.20783), §3.2"
    )
    advice: ClassVar[Advice] = Advice(
        "When easy and hard prompts are over-weighted, or completions grow longer without getting better. Pair it with "
        "the constant normaliser.",
        (*GROUP, "response_length/mean"),
    )
    type: Literal["dr_grpo"] = "dr_grpo"

"""Parameters and advice of GRPO."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.advantage.deviation import Deviation
from trainer_core.spec.methods.kinds import GroupAdvantage
from trainer_core.spec.watched import GROUP


class GRPOAdvantage(GroupAdvantage):
    """Group-relative advantage. A group of one, or of equal rewards, has advantage 0."""

    model_config = method_doc("GRPO", "A_i = (r_i − mean(r)) / (std(r) + ε)", "DeepSeekMath (arXiv 2402.03300), §4.1.2")
    advice: ClassVar[Advice] = Advice(
        "The common starting point for verifiable rewards with 4 to 64 samples per prompt.",
        GROUP,
    )
    type: Literal["grpo"] = "grpo"
    std: Deviation = "sample"
    """Which standard deviation divides: with n or with n − 1 in the denominator."""
    epsilon: float = field(1e-6, ge=0.0, le=1.0)
    """Added to the standard deviation."""

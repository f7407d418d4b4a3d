"""Parameters and advice of MC-GRPO."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import GroupAdvantage
from trainer_core.spec.watched import GROUP


class MCGRPOAdvantage(GroupAdvantage):
    """The reward above the group's median, which one outlier cannot move: for small groups.

    The group holds G + 1 samples with G even. The one whose reward is the median is the pivot: its advantage is 0 and
    it is excluded from the loss, so that G samples are learned from. If failed rewards leave an even number, the lower
    of the two middle samples is the pivot.
    """

    model_config = method_doc(
        "MC-GRPO", "A_i = (r_i − median(r)) / (scale(r) + ε), pivot excluded", "MC-GRPO (arXiv 2601.22582)"
    )
    advice: ClassVar[Advice] = Advice(
        "Two to eight samples per prompt, or rewards with outliers that drag the mean.",
        GROUP,
    )
    type: Literal["mc_grpo"] = "mc_grpo"
    scale: Literal["mad", "std", "none"] = "std"
    """The divisor: the median absolute deviation, as in the authors' code; the sample standard deviation, as in GRPO;
    or nothing. The median absolute deviation of rewards of 0 and 1 is always 0, which leaves ±1/ε."""
    epsilon: float = field(1e-3, gt=0.0, le=1.0)
    """Added to the scale."""

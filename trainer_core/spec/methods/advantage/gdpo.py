"""Parameters and advice of GDPO."""

from typing import ClassVar, Literal

from pydantic import Field

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.advantage.deviation import Deviation
from trainer_core.spec.methods.kinds import Compared, ComparingAdvantage


class GDPOAdvantage(ComparingAdvantage):
    """Each part of the reward is standardised within the group before the parts are summed.

    If they are summed first, as in GRPO, different mixtures of parts collapse into one advantage: (1, 0) and (0, 1) are
    worth the same, and a part with small values is drowned out by one with large values.
    """

    model_config = method_doc(
        "GDPO",
        "A_ik = (r_ik − mean(r_k)) / (std(r_k) + ε); S_i = Σ_k w_k·A_ik; "
        "A_i = (S_i − mean_batch(S)) / (std_batch(S) + ε)",
        "GDPO (arXiv 2601.05242)",
    )
    advice: ClassVar[Advice] = Advice(
        "Rewards of several parts, such as correctness, format and length, that must each be learned.",
        ("reward_parts/<component>/mean", "critic/score/mean"),
    )
    compares: ClassVar[Compared] = "parts"
    type: Literal["gdpo"] = "gdpo"
    weights: dict[str, float] = Field(default_factory=dict)
    """Weight of each reward part by its name, after its standardisation; unnamed parts weigh 1."""
    std: Deviation = "sample"
    """Which standard deviation divides: with n or with n − 1 in the denominator."""
    epsilon: float = field(1e-4, ge=0.0, le=1.0)
    """Added to the standard deviations."""

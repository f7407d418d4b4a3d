"""Parameters, advice and weight by ratio of MinPRO."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import Anchor, LossModel
from trainer_core.spec.watched import MISMATCH, RATIO


class MinPROLoss(LossModel):
    """Weights a token by its ratio and the smallest ratio before it, instead of the exploding product of all."""

    model_config = method_doc(
        "MinPRO",
        "L = −sg(clip(ρ_t · min_{i<t} ρ_i, ratio_min, ratio_max)) · A · log π_θ, ρ = π_θ / π_behaviour",
        "Prefix Importance Ratio Stabilizes Policy Optimization (arXiv 2601.22718)",
    )
    advice: ClassVar[Advice] = Advice(
        "Strongly off-policy samples of long completions.",
        (*RATIO, *MISMATCH),
    )
    anchor: ClassVar[Anchor] = "behaviour"
    weighs_behaviour: ClassVar[bool] = True
    type: Literal["minpro"] = "minpro"
    ratio_min: float = field(0.0, ge=0.0, le=1.0, steer="optimizer_step")
    """Smallest weight. Above 0, tokens after an improbable prefix keep training."""
    ratio_max: float = field(5.0, ge=1.0, le=1000.0, steer="optimizer_step")
    """Largest weight."""

    def gradient_weight(self, ratio: float, sign: int) -> float:
        """The ratio, clipped to the band."""
        return min(max(ratio, self.ratio_min), self.ratio_max)

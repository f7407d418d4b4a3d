"""Parameters, advice and weight by ratio of CISPO."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import LossModel
from trainer_core.spec.watched import RATIO


class CISPOLoss(LossModel):
    """Clips the weight of a token instead of its gradient: every token keeps training, however far it has moved."""

    model_config = method_doc(
        "CISPO",
        "L = −sg(clip(ρ, ratio_min, ratio_max)) · A · log π_θ, ρ = π_θ / π_old",
        "MiniMax-M1 (arXiv 2506.13585), eq. 4",
    )
    advice: ClassVar[Advice] = Advice(
        "Several updates per step or stale samples, when rare but decisive tokens get clipped.",
        RATIO,
    )
    type: Literal["cispo"] = "cispo"
    ratio_min: float = field(0.0, ge=0.0, le=1.0, steer="optimizer_step")
    """Smallest weight (the band itself, not an ε). MiniMax-M1 has no lower bound: 0."""
    ratio_max: float = field(5.0, ge=1.0, le=100.0, steer="optimizer_step")
    """Largest weight (the band itself, not an ε)."""

    def gradient_weight(self, ratio: float, sign: int) -> float:
        """The ratio, clipped to the band."""
        return min(max(ratio, self.ratio_min), self.ratio_max)

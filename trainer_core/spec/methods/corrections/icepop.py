"""Parameters, advice and weight by ratio of IcePop."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import CorrectionModel
from trainer_core.spec.watched import MISMATCH


class IcePopMasking(CorrectionModel):
    """Weight by the ratio within a band around 1, and exclude tokens outside it."""

    model_config = method_doc(
        "IcePop",
        "w = π_old / π_behaviour if ratio_min ≤ w ≤ ratio_max, else 0; L ← w·L",
        "Every Step Evolves: Ring-1T (arXiv 2510.18855), §IcePop",
    )
    advice: ClassVar[Advice] = Advice(
        "Mixture-of-experts policies, whose routing differs between engine and learner.",
        (*MISMATCH, "rollout_corr/rollout_is_masked_share"),
    )
    weighs_ratio: ClassVar[bool] = True
    type: Literal["icepop"] = "icepop"
    ratio_min: float = field(0.5, ge=0.0, le=1.0, steer="optimizer_step")
    """Smallest ratio learner / engine that is kept. It bounds the ratio itself, never its inverse."""
    ratio_max: float = field(5.0, ge=1.0, le=1000.0, steer="optimizer_step")
    """Largest ratio learner / engine that is kept."""

    def gradient_weight(self, ratio: float) -> float:
        """The ratio; 0 outside the band."""
        return ratio if self.ratio_min <= ratio <= self.ratio_max else 0.0

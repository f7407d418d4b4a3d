"""Parameters, advice and weight by ratio of Sequence-masked policy optimisation."""

import math
from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import Anchor, LossModel
from trainer_core.spec.watched import MISMATCH, RATIO


class SequenceMaskLoss(LossModel):
    """Excludes every completion with any part outside the trust region; the others are not clipped."""

    model_config = method_doc(
        "Sequence-masked policy optimisation",
        "L = −M · ρ · A, ρ = π_θ / π_behaviour; M = 1 if ratio_min ≤ ρ_t ≤ ratio_max for every t and "
        "mean_t (ρ_t − 1 − log ρ_t) ≤ divergence_max",
        "Trust Region Masking for Long-Horizon LLM Reinforcement Learning (arXiv 2512.23075)",
    )
    advice: ClassVar[Advice] = Advice(
        "When no token of a completion may leave the trust region.",
        (*RATIO, *MISMATCH),
    )
    anchor: ClassVar[Anchor] = "behaviour"
    weighs_behaviour: ClassVar[bool] = True
    ratio_note: ClassVar[str] = ", other tokens of the completion at 1"
    type: Literal["sequence_mask"] = "sequence_mask"
    ratio_min: float = field(0.1, ge=0.0, le=1.0, steer="optimizer_step")
    """Smallest ratio that any token of a completion may have."""
    ratio_max: float = field(10.0, ge=1.0, le=1000.0, steer="optimizer_step")
    """Largest ratio that any token of a completion may have."""
    divergence_max: float | None = field(None, gt=0.0, le=10.0, unit="nats")
    """Largest mean divergence of a completion. Empty: only the band decides."""

    def gradient_weight(self, ratio: float, sign: int) -> float:
        """The ratio; 0 where the completion has left the trust region."""
        divergence = ratio - 1 - math.log(ratio)
        inside = self.ratio_min <= ratio <= self.ratio_max
        near = self.divergence_max is None or divergence <= self.divergence_max
        return ratio if inside and near else 0.0

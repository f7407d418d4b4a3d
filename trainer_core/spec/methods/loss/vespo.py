"""Parameters, advice and weight by ratio of VESPO."""

import math
from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import Anchor, LossModel
from trainer_core.spec.watched import MISMATCH, RATIO


class VESPOLoss(LossModel):
    """Weights whole completions by a smooth bump of their ratio: 1 on policy, fading on both sides."""

    model_config = method_doc(
        "VESPO",
        "W = Π_t π_θ / π_behaviour; φ = W^k · exp(λ·(1 − W)); L = −sg(φ) · A · log π_θ",
        "Variational Sequence-Level Soft Policy Optimization (arXiv 2602.10693); constants: TRL",
    )
    advice: ClassVar[Advice] = Advice(
        "Strongly off-policy samples, weighted as whole completions.",
        (*RATIO, *MISMATCH),
    )
    anchor: ClassVar[Anchor] = "behaviour"
    weighs_behaviour: ClassVar[bool] = True
    ratio_note: ClassVar[str] = ", other tokens of the completion at 1"
    type: Literal["vespo"] = "vespo"
    power_positive: float = field(2.0, gt=0.0, le=100.0)
    """k for A ≥ 0: how fast the weight of improbable completions fades."""
    rate_positive: float = field(3.0, gt=0.0, le=100.0)
    """λ for A ≥ 0: how fast the weight of completions that have become likelier fades."""
    power_negative: float = field(3.0, gt=0.0, le=100.0)
    """k for A < 0."""
    rate_negative: float = field(2.0, gt=0.0, le=100.0)
    """λ for A < 0."""

    def gradient_weight(self, ratio: float, sign: int) -> float:
        """``W^k · exp(λ(1 − W))``."""
        positive = (self.power_positive, self.rate_positive)
        power, rate = positive if sign > 0 else (self.power_negative, self.rate_negative)
        weight: float = ratio**power * math.exp(rate * (1 - ratio))
        return weight

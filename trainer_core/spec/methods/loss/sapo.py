"""Parameters, advice and weight by ratio of SAPO."""

import math
from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import LossModel
from trainer_core.spec.watched import RATIO


class SAPOLoss(LossModel):
    """A soft gate instead of the clip: the weight of a token fades as its ratio leaves 1."""

    model_config = method_doc(
        "SAPO",
        "L = −(4/τ) · σ(τ·(ρ − 1)) · A with τ = temperature_positive for A > 0, temperature_negative otherwise",
        "Soft Adaptive Policy Optimization (arXiv 2511.20347)",
    )
    advice: ClassVar[Advice] = Advice(
        "Like PPO clip, when a hard edge makes training unstable.",
        (*RATIO, "actor/gate_mean"),
    )
    type: Literal["sapo"] = "sapo"
    temperature_positive: float = field(1.0, gt=0.0, le=100.0, steer="optimizer_step")
    """τ of tokens with a positive advantage; the higher, the sooner the weight fades."""
    temperature_negative: float = field(1.05, gt=0.0, le=100.0, steer="optimizer_step")
    """τ of the other tokens. Higher than the first: pushing probability down disturbs every other token."""

    def gradient_weight(self, ratio: float, sign: int) -> float:
        """``4σ(1 − σ)·ρ`` with ``σ = σ(τ(ρ − 1))``."""
        tau = self.temperature_positive if sign > 0 else self.temperature_negative
        gate = 1 / (1 + math.exp(-tau * (ratio - 1)))
        return 4 * gate * (1 - gate) * ratio

"""Parameters, advice and weight by ratio of Decoupled PPO."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import LossModel
from trainer_core.spec.methods.loss.clipped import clipped
from trainer_core.spec.watched import RATIO


class DecoupledPPOLoss(LossModel):
    """PPO's clip around the proximal policy, weighted by the ratio of proximal to behaviour policy: for stale
    samples."""

    model_config = method_doc(
        "Decoupled PPO",
        "w = π_old / π_behaviour, 0 above weight_max; L = −w · min(ρ·A, clip(ρ, ratio_min, ratio_max)·A), "
        "ρ = π_θ / π_old",
        "AReaL (arXiv 2505.24298), §5.2; batch size-invariance (arXiv 2110.00641)",
    )
    advice: ClassVar[Advice] = Advice(
        "Asynchronous runs with several updates per step: the clip is centred on the proximal policy.",
        (*RATIO, "staleness/mean", "rollout_corr/rollout_is_masked_share"),
    )
    weighs_behaviour: ClassVar[bool] = True
    type: Literal["decoupled_ppo"] = "decoupled_ppo"
    ratio_min: float = field(0.8, ge=0.0, le=1.0, steer="optimizer_step")
    """Lower edge of the band around the proximal policy."""
    ratio_max: float = field(1.2, ge=1.0, le=100.0, steer="optimizer_step")
    """Upper edge of the band around the proximal policy."""
    weight_max: float = field(5.0, ge=1.0, le=1000.0, steer="optimizer_step")
    """Tokens with a larger weight are excluded."""

    def gradient_weight(self, ratio: float, sign: int) -> float:
        """PPO's clip, of the ratio to the proximal policy."""
        return clipped(ratio, sign, self.ratio_min, self.ratio_max)

"""Parameters, advice and weight by ratio of PPO clip."""

from typing import ClassVar, Literal

from pydantic import model_validator

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import LossModel
from trainer_core.spec.methods.loss.clipped import clipped
from trainer_core.spec.methods.loss.top_k_smoothing import TopKSmoothing
from trainer_core.spec.watched import RATIO


class PPOClipLoss(LossModel):
    """Clipped surrogate with separate lower and upper bounds of the importance ratio (clip-higher)."""

    model_config = method_doc(
        "PPO clip",
        "L = −min(ρ·A, clip(ρ, ratio_min, ratio_max)·A), ρ = π_θ / π_old; with A < 0 at most ratio_dual·|A|",
        "PPO (arXiv 1707.06347), eq. 7; clip-higher: DAPO (arXiv 2503.14476), eq. 10; dual clip: arXiv 1912.09729",
    )
    advice: ClassVar[Advice] = Advice(
        "The default. Raise the upper edge (clip-higher) when entropy falls too fast; it acts from the second update of"
        " a step.",
        (*RATIO, "actor/clip_high_share", "actor/clip_low_share"),
    )
    type: Literal["ppo_clip"] = "ppo_clip"
    ratio_min: float = field(0.8, ge=0.0, le=1.0, steer="optimizer_step")
    """Lower edge of the ratio band (the band itself, not an ε)."""
    ratio_max: float = field(1.28, ge=1.0, le=100.0, steer="optimizer_step")
    """Upper edge of the ratio band (the band itself, not an ε)."""
    ratio_dual: float | None = field(None, gt=1.0, le=100.0)
    """Dual clip: cap of the loss for negative advantages, as a ratio. Empty: off."""
    smoothing: TopKSmoothing | None = None
    """Whether uncertain tokens share their gain with the policy's likeliest ones (SimKO). Empty: off."""

    @property
    def candidates(self) -> int:
        """Number of the policy's own likeliest tokens whose probabilities the loss looks at."""
        return 0 if self.smoothing is None else self.smoothing.k

    @model_validator(mode="after")
    def _dual_is_outside_the_band(self) -> "PPOClipLoss":
        if self.ratio_dual is not None and self.ratio_dual <= self.ratio_max:
            raise ValueError("ratio_dual must be above ratio_max")
        return self

    def gradient_weight(self, ratio: float, sign: int) -> float:
        """PPO's clip; 0 too where the dual clip binds. Of tokens that no smoothing concerns."""
        capped = sign < 0 and self.ratio_dual is not None and ratio > self.ratio_dual
        return 0.0 if capped else clipped(ratio, sign, self.ratio_min, self.ratio_max)

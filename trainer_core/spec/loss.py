"""The policy objective."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from trainer_core.spec.base import SpecModel, field, method_doc


class PPOClipLoss(SpecModel):
    """Clipped surrogate with separate lower and upper bound of the importance ratio (clip-higher)."""

    model_config = method_doc(
        "PPO clip",
        "L = −min(ρ·A, clip(ρ, ratio_min, ratio_max)·A), ρ = π_θ / π_old; with A < 0 at most ratio_dual·|A|",
        "PPO (arXiv 1707.06347), eq. 7; clip-higher: DAPO (arXiv 2503.14476), eq. 10; dual clip: arXiv 1912.09729",
    )
    type: Literal["ppo_clip"] = "ppo_clip"
    ratio_min: float = field(0.8, ge=0.0, le=1.0, steer="optimizer_step")
    """Lower edge of the ratio band (the band itself, not an ε)."""
    ratio_max: float = field(1.28, ge=1.0, le=100.0, steer="optimizer_step")
    """Upper edge of the ratio band (the band itself, not an ε)."""
    ratio_dual: float | None = field(None, gt=1.0, le=100.0)
    """Dual clip: cap of the loss for negative advantages, as a ratio. Empty: off."""

    @model_validator(mode="after")
    def _dual_is_outside_the_band(self) -> "PPOClipLoss":
        if self.ratio_dual is not None and self.ratio_dual <= self.ratio_max:
            raise ValueError("ratio_dual must be above ratio_max")
        return self


class ReinforceLoss(SpecModel):
    """Plain policy gradient; off-policy tokens are handled by the corrections alone."""

    model_config = method_doc("REINFORCE", "L = −A · log π_θ", "Williams 1992")
    type: Literal["reinforce"] = "reinforce"


Loss = Annotated[PPOClipLoss | ReinforceLoss, Field(discriminator="type")]

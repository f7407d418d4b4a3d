"""Corrections for tokens that another policy than the learner's has sampled."""

from typing import Literal

from trainer_core.spec.base import SpecModel, field, method_doc


class TruncatedImportanceSampling(SpecModel):
    """Weight each token by the truncated ratio between the learner's and the engine's probability."""

    model_config = method_doc(
        "Truncated importance sampling",
        "w = min(π_old / π_behaviour, ratio_max); L ← w·L",
        "Ionides 2008; Your efficient RL framework secretly brings you off-policy training (Yao et al. 2025)",
    )
    type: Literal["truncated_is"] = "truncated_is"
    level: Literal["token", "sequence"] = "token"
    """One ratio per token, or their product over the completion."""
    ratio_max: float = field(2.0, ge=1.0, le=1000.0, steer="optimizer_step")
    """Largest weight."""


Correction = TruncatedImportanceSampling

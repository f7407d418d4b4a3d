"""Parameters, advice and weight by ratio of Truncated importance sampling."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.corrections.level import Level
from trainer_core.spec.methods.kinds import CorrectionModel
from trainer_core.spec.watched import MISMATCH


class TruncatedImportanceSampling(CorrectionModel):
    """Weight each token by the truncated ratio between the learner's and the engine's probability."""

    model_config = method_doc(
        "Truncated importance sampling",
        "w = min(π_old / π_behaviour, ratio_max); L ← w·L",
        "Ionides 2008; Your efficient RL framework secretly brings you off-policy training (Yao et al. 2025)",
    )
    advice: ClassVar[Advice] = Advice(
        "The default: engine and learner differ slightly, or samples are one version old.",
        (*MISMATCH, "rollout_corr/rollout_is_truncated_share"),
    )
    weighs_ratio: ClassVar[bool] = True
    type: Literal["truncated_is"] = "truncated_is"
    level: Level = "token"
    """One ratio per token, or their product over the completion."""
    ratio_max: float = field(2.0, ge=1.0, le=1000.0, steer="optimizer_step")
    """Largest weight."""

    def gradient_weight(self, ratio: float) -> float:
        """The truncated ratio."""
        return min(ratio, self.ratio_max)

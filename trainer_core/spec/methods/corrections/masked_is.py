"""Parameters, advice and weight by ratio of Masked importance sampling."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.corrections.level import Level
from trainer_core.spec.methods.kinds import CorrectionModel
from trainer_core.spec.watched import MISMATCH


class MaskedImportanceSampling(CorrectionModel):
    """Weight by the ratio, and exclude tokens above a bound instead of truncating them."""

    model_config = method_doc(
        "Masked importance sampling",
        "w = π_old / π_behaviour if w ≤ ratio_max, else 0; L ← w·L",
        "When speed kills stability: demystifying RL collapse from the training-inference mismatch (Liu et al. 2025)",
    )
    advice: ClassVar[Advice] = Advice(
        "When extreme ratios come from faults of the engine rather than from staleness.",
        (*MISMATCH, "rollout_corr/rollout_is_masked_share"),
    )
    weighs_ratio: ClassVar[bool] = True
    type: Literal["masked_is"] = "masked_is"
    level: Level = "sequence"
    """One ratio per token, or their product over the completion, which is then kept or excluded as a whole."""
    ratio_max: float = field(3.0, ge=1.0, le=1000.0, steer="optimizer_step")
    """Largest ratio that is kept."""

    def gradient_weight(self, ratio: float) -> float:
        """The ratio; 0 above the bound."""
        return ratio if ratio <= self.ratio_max else 0.0

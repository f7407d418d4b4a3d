"""Parameters, advice and weight by ratio of GSPO."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import LossModel
from trainer_core.spec.methods.loss.clipped import clipped
from trainer_core.spec.watched import RATIO


class GSPOLoss(LossModel):
    """PPO's clip on the length-normalised ratio of the whole completion. Meant for the sequence mean."""

    model_config = method_doc(
        "GSPO",
        "s = exp(mean_t log(π_θ / π_old)); L = −min(s·A, clip(s, ratio_min, ratio_max)·A); "
        "token form: s_t = sg(s) · π_θ / sg(π_θ)",
        "Group Sequence Policy Optimization (arXiv 2507.18071), §4.1; token form: §4.3",
    )
    advice: ClassVar[Advice] = Advice(
        "Mixture-of-experts policies and long completions, where token ratios are too noisy.",
        RATIO,
    )
    whole_sequences: ClassVar[bool] = True
    ratio_note: ClassVar[str] = ", geometric mean over the completion"
    type: Literal["gspo"] = "gspo"
    level: Literal["sequence", "token"] = "sequence"
    """Whether the gradient flows through the sequence's ratio, or through each token's own probability."""
    ratio_min: float = field(0.9997, ge=0.0, le=1.0, steer="optimizer_step")
    """Lower edge of the band of the sequence's ratio. Far narrower than a band of token ratios."""
    ratio_max: float = field(1.0004, ge=1.0, le=100.0, steer="optimizer_step")
    """Upper edge of the band of the sequence's ratio."""

    def gradient_weight(self, ratio: float, sign: int) -> float:
        """PPO's clip, of the ratio of the completion."""
        return clipped(ratio, sign, self.ratio_min, self.ratio_max)

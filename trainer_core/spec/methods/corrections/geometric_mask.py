"""Parameters and advice of the sequence mask by the geometric mean of ratios."""

from typing import ClassVar, Literal

from pydantic import model_validator

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import CorrectionModel
from trainer_core.spec.watched import MISMATCH


class GeometricSequenceMask(CorrectionModel):
    """Exclude whole completions whose mean ratio per token is outside a band around 1.

    The product of ratios that a sequence-level mask bounds grows with the length: long completions almost certainly
    leave any band. Their geometric mean does not. The mask applies no weights: a correction that weights tokens may be
    added.
    """

    model_config = method_doc(
        "Sequence mask by geometric mean",
        "M = 1 if ratio_min ≤ exp(mean_t log(π_old / π_behaviour)) ≤ ratio_max, else 0; L ← M·L",
        "When speed kills stability: demystifying RL collapse from the training-inference mismatch (Liu et al. 2025); "
        "geometric rejection in verl's rollout correction",
    )
    advice: ClassVar[Advice] = Advice(
        "Long completions from an engine whose probabilities drift a little at every token.",
        (*MISMATCH, "rollout_corr/geometric_masked_share"),
    )
    type: Literal["geometric_mask"] = "geometric_mask"
    ratio_min: float = field(0.99, gt=0.0, le=1.0, steer="optimizer_step")
    """Smallest geometric mean of the ratios learner / engine of a completion that is kept."""
    ratio_max: float = field(1.01, ge=1.0, le=1000.0, steer="optimizer_step")
    """Largest geometric mean of the ratios learner / engine of a completion that is kept."""

    @model_validator(mode="after")
    def _band_has_room(self) -> "GeometricSequenceMask":
        if self.ratio_min == self.ratio_max:
            raise ValueError(
                "ratio_min and ratio_max leave no band: every completion would be excluded. Set ratio_min"
                " below ratio_max"
            )
        return self

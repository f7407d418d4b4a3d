"""Parameters and advice of High-entropy tokens."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import FilterModel, Stage


class HighEntropyTokensFilter(FilterModel):
    """Learn from the tokens at which the policy decides; certain tokens still count in the denominators."""

    model_config = method_doc(
        "High-entropy tokens",
        "A_t ← A_t · [H_t ≥ τ], τ = the (1 − share) quantile of H over the minibatch",
        "Beyond the 80/20 rule (arXiv 2506.01939), eq. 5",
    )
    advice: ClassVar[Advice] = Advice(
        "When most tokens are predictable: the decision points matter.",
        ("actor/entropy", "actor/grad_norm", "critic/score/mean"),
    )
    stage: ClassVar[Stage] = "tokens"
    whole_step: ClassVar[bool] = True
    type: Literal["high_entropy"] = "high_entropy"
    share: float = field(0.2, gt=0.0, le=1.0, unit="share")
    """Share of the minibatch's tokens, those of the highest entropy, that keep their advantage."""

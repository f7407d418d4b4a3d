"""Parameters and advice of Mastered positive tokens."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import FilterModel, Stage


class MasteredTokensFilter(FilterModel):
    """While the policy's entropy is below a target, tokens of right answers that it has mastered are not trained
    further."""

    model_config = method_doc(
        "Mastered positive tokens",
        "while mean H < target_entropy: A_t ← 0 where r ≥ success and π(t) ≥ probability",
        "UloRL (arXiv 2507.19766), §3.2",
    )
    advice: ClassVar[Advice] = Advice(
        "When entropy collapses on answers that are already right.",
        ("actor/entropy",),
    )
    stage: ClassVar[Stage] = "tokens"
    whole_step: ClassVar[bool] = True
    type: Literal["mastered_tokens"] = "mastered_tokens"
    probability: float = field(0.99, gt=0.0, lt=1.0)
    """Least probability of a token that counts as mastered."""
    target_entropy: float = field(0.2, ge=0.0, unit="nats")
    """Mean entropy of the minibatch's tokens below which mastered tokens are not trained."""
    success: float = field(1.0)
    """Least reward of an answer that counts as right."""

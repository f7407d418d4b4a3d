"""Parameters, advice and weight by ratio of KL-penalised surrogate."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import LossModel
from trainer_core.spec.watched import RATIO


class KLPenalisedLoss(LossModel):
    """Importance-weighted policy gradient with a penalty on leaving the policy before the step, instead of a clip."""

    model_config = method_doc(
        "KL-penalised surrogate",
        "L = −ρ·A + coefficient · (ρ − 1 − log ρ), ρ = π_θ / π_old",
        "TRPO (arXiv 1502.05477), §4, penalised form; PPO (arXiv 1707.06347), eq. 8 with a constant coefficient",
    )
    advice: ClassVar[Advice] = Advice(
        "When a soft pull to the policy before the step is wanted instead of a clip.",
        RATIO,
    )
    type: Literal["kl_penalised"] = "kl_penalised"
    coefficient: float = field(3.0, gt=0.0, le=1000.0, steer="optimizer_step")
    """β: a token of advantage A < β settles at the ratio β / (β − A); at 3 and A = 1 that is 1.5."""

    def gradient_weight(self, ratio: float, sign: int) -> float:
        """``ρ − β(ρ − 1) / A``."""
        return ratio - self.coefficient * (ratio - 1) / sign

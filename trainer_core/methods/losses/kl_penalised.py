"""The surrogate of TRPO (arXiv 1502.05477) with its constraint as a penalty (PPO, arXiv 1707.06347, eq. 8)."""

from torch import Tensor

from trainer_core.methods.kl import penalty
from trainer_core.methods.losses.ratio import bounded_ratio, drift
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.loss import KLPenalisedLoss


def kl_penalised(spec: KLPenalisedLoss, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """``−ρA + β(ρ − 1 − log ρ)``, shape [N]: the k3 estimate of KL(π_old ‖ π_θ), since samples come from π_old."""
    divergence = penalty("k3", view.old_logprobs, view.logprobs)
    return spec.coefficient * divergence - bounded_ratio(view.log_ratio) * view.advantages, drift(view)

"""GSPO: group sequence policy optimisation (arXiv 2507.18071)."""

from torch import Tensor

from trainer_core.methods.losses.ratio import bounded_ratio, clipped_surrogate, edge_metrics
from trainer_core.methods.ragged import sequence_mean
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.loss import GSPOLoss


def gspo(spec: GSPOLoss, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """PPO's clip with the sequence's ratio ``s = exp(mean log ρ)``; every token of the sequence gets it: [N].

    The token form (§4.3) has the same values, but each token's own advantage meets its own gradient.
    """
    log_ratio = sequence_mean(view.log_ratio, view.mask, view.sequence)
    if spec.level == "token":
        log_ratio = log_ratio.detach() + view.logprobs - view.logprobs.detach()
    advantages = view.advantages
    loss, binds = clipped_surrogate(bounded_ratio(log_ratio), advantages, spec.ratio_min, spec.ratio_max)
    return loss, edge_metrics(view, binds & (advantages > 0), binds & (advantages < 0))

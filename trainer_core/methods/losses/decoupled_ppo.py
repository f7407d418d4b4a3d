"""Decoupled PPO (AReaL, arXiv 2505.24298, §5.2): one policy bounds the update, another one sampled."""

from torch import Tensor

from trainer_core.methods.losses.ratio import bounded_ratio, clipped_surrogate, edge_metrics, share
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.loss import DecoupledPPOLoss


def decoupled_ppo(spec: DecoupledPPOLoss, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """``−w · min(ρA, clip(ρ, ratio_min, ratio_max)A)`` with ``w = π_old / π_behaviour``, shape [N].

    A token with ``w > weight_max`` is left out, but still counts in the average of the loss. Otherwise the remaining
    tokens would gain weight.
    """
    advantages = view.advantages
    weight = bounded_ratio(view.log_mismatch)
    loss, binds = clipped_surrogate(bounded_ratio(view.log_ratio), advantages, spec.ratio_min, spec.ratio_max)
    kept = weight <= spec.weight_max
    metrics = edge_metrics(view, binds & (advantages > 0), binds & (advantages < 0))
    metrics["rollout_corr/rollout_is_masked_share"] = share(~kept, view)
    return weight * kept * loss, metrics

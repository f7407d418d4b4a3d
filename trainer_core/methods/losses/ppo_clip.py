"""PPO's clipped surrogate (arXiv 1707.06347, eq. 7), separate bounds (DAPO's clip-higher), optional dual clip."""

import torch
from torch import Tensor

from trainer_core.methods.masked import masked_mean
from trainer_core.spec.loss import PPOClipLoss


def ppo_clip(
    spec: PPOClipLoss, logprobs: Tensor, old_logprobs: Tensor, advantages: Tensor, mask: Tensor
) -> tuple[Tensor, dict[str, Tensor]]:
    """``−min(ρA, clip(ρ, ratio_min, ratio_max)A)`` with ``ρ = exp(logprobs − old_logprobs)``, all shapes [N].

    With dual clip (arXiv 1912.09729) the loss of a negative advantage is at most ``ratio_dual · |A|``.
    The log-ratio is bounded at ±20 so that one broken token cannot overflow; the bound never binds inside the band.
    """
    log_ratio = (logprobs - old_logprobs.detach()).masked_fill(~mask, 0.0)
    ratio = log_ratio.clamp(-20.0, 20.0).exp()
    free = -advantages * ratio
    clipped = -advantages * ratio.clamp(spec.ratio_min, spec.ratio_max)
    loss = torch.maximum(free, clipped)
    with torch.no_grad():
        above, below = mask & (clipped > free) & (advantages > 0), mask & (clipped > free) & (advantages < 0)
        metrics = {
            "actor/pg_clipfrac": masked_mean((above | below).to(logprobs.dtype), mask),
            "actor/pg_clipfrac_lower": masked_mean(below.to(logprobs.dtype), mask),
            "actor/ppo_kl": masked_mean(-log_ratio, mask),
        }
    if spec.ratio_dual is not None:
        loss = torch.where(advantages < 0, torch.minimum(loss, -advantages * spec.ratio_dual), loss)
    return loss, metrics

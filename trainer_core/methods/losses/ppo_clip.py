"""PPO's clipped surrogate (arXiv 1707.06347, eq. 7), separate bounds (DAPO's clip-higher), optional dual clip."""

import torch
from torch import Tensor

from trainer_core.methods.masked import masked_mean
from trainer_core.methods.view import TokenView
from trainer_core.spec.loss import PPOClipLoss

_LOG_RATIO_BOUND = 20.0
"""One broken token must not overflow. The bound lies outside every band that a spec accepts."""


def ppo_clip(spec: PPOClipLoss, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """``−min(ρA, clip(ρ, ratio_min, ratio_max)A)`` with ``ρ = π_θ / π_old``, shape [N].

    With dual clip (arXiv 1912.09729) the loss of a negative advantage is at most ``ratio_dual · |A|``.
    """
    advantages, mask = view.advantages, view.mask
    ratio = view.log_ratio.clamp(-_LOG_RATIO_BOUND, _LOG_RATIO_BOUND).exp()
    free = -advantages * ratio
    clipped = -advantages * ratio.clamp(spec.ratio_min, spec.ratio_max)
    loss = torch.maximum(free, clipped)
    with torch.no_grad():
        binds = mask & (clipped > free)
        shares = {
            "actor/pg_clipfrac": binds,
            "actor/clip_high_share": binds & (advantages > 0),
            "actor/clip_low_share": binds & (advantages < 0),
        }
    if spec.ratio_dual is not None:
        ceiling = -advantages * spec.ratio_dual
        shares["actor/pg_clipfrac_lower"] = mask & (advantages < 0) & (loss.detach() > ceiling)
        loss = torch.where(advantages < 0, torch.minimum(loss, ceiling), loss)
    metrics = {name: masked_mean(share.to(loss.dtype), mask) for name, share in shares.items()}
    return loss, {**metrics, "actor/ppo_kl": masked_mean(-view.log_ratio.detach(), mask)}

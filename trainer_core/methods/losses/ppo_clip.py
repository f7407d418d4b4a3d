"""PPO's clipped surrogate (arXiv 1707.06347, eq. 7), separate bounds (DAPO's clip-higher), optional dual clip."""

import torch
from torch import Tensor

from trainer_core.methods.losses.one_pass import one_pass
from trainer_core.methods.losses.ratio import bounded_ratio, clipped_surrogate, edge_metrics, share
from trainer_core.methods.losses.simko import simko
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.loss import PPOClipLoss


def ppo_clip(spec: PPOClipLoss, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """``−min(ρA, clip(ρ, ratio_min, ratio_max)A)`` with ``ρ = π_θ / π_old``, shape [N].

    With dual clip (arXiv 1912.09729) the loss of a negative advantage is at most ``ratio_dual · |A|``. With smoothing,
    ρ and A are SimKO's (``simko``).
    """
    plain = spec.ratio_dual is None and spec.smoothing is None
    if plain and (found := one_pass("ppo_clip", spec.ratio_min, spec.ratio_max, view)) is not None:
        return found
    ratio, advantages = bounded_ratio(view.log_ratio), view.advantages
    smoothed: dict[str, Tensor] = {}
    if spec.smoothing is not None:
        ratio, advantages, smoothed = simko(spec.smoothing, ratio, view)
    loss, binds = clipped_surrogate(ratio, advantages, spec.ratio_min, spec.ratio_max)
    metrics = {**edge_metrics(view, binds & (advantages > 0), binds & (advantages < 0)), **smoothed}
    if spec.ratio_dual is not None:
        ceiling = -advantages * spec.ratio_dual
        metrics["actor/pg_clipfrac_lower"] = share((advantages < 0) & (loss.detach() > ceiling), view)
        loss = torch.where(advantages < 0, torch.minimum(loss, ceiling), loss)
    return loss, metrics

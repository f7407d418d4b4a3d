"""MinPRO: minimum prefix ratio (arXiv 2601.22718)."""

import torch
from torch import Tensor

from trainer_core.methods.losses.ratio import bounded_ratio, edge_metrics
from trainer_core.methods.ragged import prefix_minimum
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.loss import MinPROLoss


def minpro(spec: MinPROLoss, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """``−sg(clip(ρ_t · min_{i<t} ρ_i, ratio_min, ratio_max)) · A · log π`` with ``ρ = π_θ / π_behaviour``, shape [N].

    Only counted tokens are part of the prefix. The first token of a sequence is weighted by its own ratio.
    """
    with torch.no_grad():
        log_ratio = view.log_behaviour_ratio
        before = prefix_minimum(log_ratio.masked_fill(~view.mask, torch.inf), view.sequence)
        weight = bounded_ratio(log_ratio + before.masked_fill(before.isposinf(), 0.0))
        metrics = edge_metrics(view, weight > spec.ratio_max, weight < spec.ratio_min)
        weight = weight.clamp(spec.ratio_min, spec.ratio_max)
    return -weight * view.advantages * view.logprobs, metrics

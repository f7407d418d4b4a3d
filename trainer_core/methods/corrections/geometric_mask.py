"""Sequence mask by the geometric mean of a completion's ratios (Liu et al. 2025)."""

import torch
from torch import Tensor

from trainer_core.methods.masked import masked_mean
from trainer_core.methods.ragged import sequence_mean
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.corrections import GeometricSequenceMask


@torch.no_grad()
def geometric_mask(spec: GeometricSequenceMask, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """1 where ``exp(mean_t log(π_old / π_behaviour))`` of the completion is in the band, else 0: [N].

    The mean is taken over the completion's counted tokens, so it does not depend on length; 1 outside the mask.
    """
    ratio = sequence_mean(view.log_mismatch, view.mask, view.sequence).exp()
    left_out = view.mask & ((ratio < spec.ratio_min) | (ratio > spec.ratio_max))
    weights = (~left_out).to(view.advantages.dtype)
    return weights, {"rollout_corr/geometric_masked_share": masked_mean(1 - weights, view.mask)}

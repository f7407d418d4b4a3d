"""Masked importance sampling (Liu et al. 2025)."""

import torch
from torch import Tensor

from trainer_core.methods.corrections.ratio import masked_share, raw_ratio
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.corrections import MaskedImportanceSampling


@torch.no_grad()
def masked_is(spec: MaskedImportanceSampling, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """``w = π_old / π_behaviour`` where that is at most ``ratio_max``, else 0: [N], 1 outside the mask."""
    ratio = raw_ratio(spec.level, view)
    left_out = ratio > spec.ratio_max
    return ratio.masked_fill(left_out, 0.0), masked_share(left_out, view)

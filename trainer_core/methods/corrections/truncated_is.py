"""Truncated importance sampling (Ionides 2008; for engine and learner: Yao et al. 2025)."""

import torch
from torch import Tensor

from trainer_core.methods.corrections.ratio import raw_ratio
from trainer_core.methods.masked import masked_mean
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.corrections import TruncatedImportanceSampling


@torch.no_grad()
def truncated_is(spec: TruncatedImportanceSampling, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """``w = min(π_old / π_behaviour, ratio_max)``, shape [N]; 1 outside the mask.

    At sequence level, every token gets the product of its trajectory's ratios, truncated once.
    """
    ratio = raw_ratio(spec.level, view)
    truncated = masked_mean((ratio > spec.ratio_max).to(ratio.dtype), view.mask)
    return ratio.clamp(max=spec.ratio_max), {"rollout_corr/rollout_is_truncated_share": truncated}

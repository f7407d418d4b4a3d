"""Truncated importance sampling (Ionides 2008; for engine and learner: Yao et al. 2025)."""

import torch
from torch import Tensor

from trainer_core.methods.masked import masked_mean
from trainer_core.methods.ragged import sequence_sum
from trainer_core.methods.view import TokenView
from trainer_core.spec.corrections import TruncatedImportanceSampling


@torch.no_grad()
def truncated_is(spec: TruncatedImportanceSampling, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """``w = min(exp(old − behaviour), ratio_max)``, shape [N]; 1 outside the mask.

    At the level of the sequence every token bears the product of its trajectory's ratios, truncated once.
    """
    log_ratio, mask = view.log_mismatch, view.mask
    if spec.level == "sequence":
        log_ratio = sequence_sum(log_ratio, view.sequence).masked_fill(~mask, 0.0)
    ratio = log_ratio.clamp(max=20.0).exp()
    truncated = masked_mean((ratio > spec.ratio_max).to(ratio.dtype), mask)
    return ratio.clamp(max=spec.ratio_max), {"rollout_corr/rollout_is_truncated_share": truncated}

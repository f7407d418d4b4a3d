"""Truncated importance sampling (Ionides 2008; for engine and learner: Yao et al. 2025)."""

import torch
from torch import Tensor

from trainer_core.methods.masked import masked_mean
from trainer_core.spec.corrections import TruncatedImportanceSampling


@torch.no_grad()
def truncated_is(
    spec: TruncatedImportanceSampling, old_logprobs: Tensor, behaviour_logprobs: Tensor, mask: Tensor, sequence: Tensor
) -> tuple[Tensor, dict[str, Tensor]]:
    """``w = min(exp(old − behaviour), ratio_max)``, shape [N]; 1 outside the mask.

    At the level of the sequence every token bears the product of its trajectory's ratios, truncated once.
    """
    log_ratio = (old_logprobs - behaviour_logprobs).masked_fill(~mask, 0.0)
    if spec.level == "sequence" and len(sequence):
        sums = log_ratio.new_zeros(int(sequence.max()) + 1).index_add_(0, sequence, log_ratio)
        log_ratio = sums[sequence].masked_fill(~mask, 0.0)
    ratio = log_ratio.clamp(max=20.0).exp()
    truncated = masked_mean((ratio > spec.ratio_max).to(ratio.dtype), mask)
    return ratio.clamp(max=spec.ratio_max), {"rollout_corr/rollout_is_truncated_share": truncated}

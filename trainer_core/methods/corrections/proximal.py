"""A-3PO: an interpolated proximal policy in place of a forward pass (arXiv 2512.06547)."""

import torch
from torch import Tensor


@torch.no_grad()
def interpolated_proximal(logprobs: Tensor, behaviour_logprobs: Tensor, staleness: Tensor) -> Tensor:
    """``log π_prox = α·log π_behaviour + (1 − α)·log π_θ``, shape [N], without gradient.

    α is 0 for fresh tokens and 1/d for tokens that are d ≥ 1 versions old: the older a sample, the closer the proximal
    policy is to the current one.

    Args:
        logprobs: current policy [N].
        behaviour_logprobs: the policy that sampled [N].
        staleness: age of each token's weights in versions, int64 [N]; an age below 0 counts as 0.
    """
    alpha = torch.where(staleness > 0, 1.0 / staleness.clamp(min=1).to(logprobs.dtype), 0.0)
    # Selected, not multiplied by 0: fresh tokens get exactly the current policy's value.
    return torch.where(alpha > 0, alpha * behaviour_logprobs + (1 - alpha) * logprobs, logprobs)

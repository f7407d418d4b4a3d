"""The critic's loss: squared error, clipped around the values before the step (OpenAI Baselines' PPO)."""

import torch
from torch import Tensor


def value_loss(values: Tensor, old_values: Tensor, returns: Tensor, clip_range: float | None) -> tuple[Tensor, Tensor]:
    """``½·max((V − R)², (clip(V, V_old ± clip_range) − R)²)`` of each token.

    Args:
        values: current values [N], with gradient.
        old_values: before the step's first update [N].
        returns: targets R [N].
        clip_range: half-width of the band; None does not clip.

    Returns:
        The loss [N] with gradient, and whether the clipped error is the larger one, which stops the gradient: bool [N].
    """
    free = (values - returns).square()
    if clip_range is None:
        return free / 2, torch.zeros_like(free, dtype=torch.bool)
    clipped = (torch.clamp(values, old_values - clip_range, old_values + clip_range) - returns).square()
    return torch.maximum(free, clipped) / 2, (clipped > free).detach()

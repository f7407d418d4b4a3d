"""Dr. GRPO advantage (arXiv 2503.20783): centred on the group's mean, not divided by its deviation."""

from torch import Tensor


def dr_grpo(rewards: Tensor, mask: Tensor) -> Tensor:
    """``A_i = r_i − mean(r)`` within each group.

    Equal rewards give exactly 0: the rounding of their mean must not become a signal. A group of one is such a group.

    Args:
        rewards: shape [groups, samples].
        mask: shape [groups, samples]; samples outside it do not count.

    Returns:
        Shape [groups, samples]; 0 outside the mask.
    """
    count = mask.sum(dim=1, keepdim=True)
    mean = rewards.masked_fill(~mask, 0.0).sum(dim=1, keepdim=True) / count.clamp(min=1)
    highest = rewards.masked_fill(~mask, -float("inf")).amax(dim=1, keepdim=True)
    lowest = rewards.masked_fill(~mask, float("inf")).amin(dim=1, keepdim=True)
    return (rewards - mean).masked_fill(~mask | (highest <= lowest), 0.0)

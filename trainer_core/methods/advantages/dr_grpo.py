"""Dr. GRPO advantage (arXiv 2503.20783): centred on the group's mean, not divided by its deviation."""

from torch import Tensor

from trainer_core.methods.advantages.group import above, weighted_mean


def dr_grpo(rewards: Tensor, mask: Tensor) -> Tensor:
    """``A_i = r_i − mean(r)`` within each group.

    Args:
        rewards: shape [groups, samples].
        mask: shape [groups, samples]; samples outside it do not count.

    Returns:
        Shape [groups, samples]; 0 outside the mask, and exactly 0 where all rewards are equal.
    """
    return above(rewards, weighted_mean(rewards, mask.to(rewards.dtype)), mask)

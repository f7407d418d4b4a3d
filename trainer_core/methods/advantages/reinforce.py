"""REINFORCE with the batch's mean reward as baseline (Williams 1992)."""

from torch import Tensor

from trainer_core.methods.advantages.dr_grpo import dr_grpo


def reinforce(rewards: Tensor, mask: Tensor) -> Tensor:
    """``A = r − mean(r)`` over all counted samples of the batch [G, S]: the batch is one group."""
    return dr_grpo(rewards.reshape(1, -1), mask.reshape(1, -1)).reshape(rewards.shape)

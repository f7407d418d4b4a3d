"""RLOO advantage (Back to Basics, arXiv 2402.14740): the other samples of the group are the baseline."""

from torch import Tensor

from trainer_core.methods.advantages.dr_grpo import dr_grpo


def rloo(rewards: Tensor, mask: Tensor) -> Tensor:
    """``A_i = r_i − mean of the others`` [G, S], as ``n / (n − 1) · (r_i − mean(r))``; a group of one gets 0."""
    count = mask.sum(dim=1, keepdim=True)
    return dr_grpo(rewards, mask) * count / (count - 1).clamp(min=1)

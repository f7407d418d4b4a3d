"""OPO advantage (arXiv 2505.23585): the length-weighted baseline, which has the least variance on policy."""

from torch import Tensor

from trainer_core.methods.advantages.group import above, weighted_mean


def opo(rewards: Tensor, mask: Tensor, lengths: Tensor) -> Tensor:
    """``A_i = r_i − Σ L·r / Σ L`` within each group.

    Args:
        rewards: shape [groups, samples].
        mask: shape [groups, samples]; samples outside it do not count.
        lengths: sampled tokens, shape [groups, samples].
    """
    weights = (mask * lengths).to(rewards.dtype)
    known = weights.sum(dim=1, keepdim=True) > 0
    return above(rewards, weighted_mean(rewards, weights), mask & known)

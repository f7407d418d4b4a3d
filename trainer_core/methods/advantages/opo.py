"""OPO advantage (arXiv 2505.23585): the length-weighted baseline, which has the least variance on-policy."""

from torch import Tensor

from trainer_core.methods.advantages.group import above, weighted_mean
from trainer_core.methods.advantages.inputs import Inputs
from trainer_core.spec.methods.advantage import OPOAdvantage


def opo(spec: OPOAdvantage, rewards: Tensor, mask: Tensor, inputs: Inputs) -> Tensor:
    """``A_i = r_i − Σ L·r / Σ L`` within each group.

    Args:
        spec: no parameters are used here.
        rewards: shape [groups, samples].
        mask: shape [groups, samples]; samples outside it are ignored.
        inputs: only the lengths are used.
    """
    weights = (mask * inputs.lengths_like(rewards)).to(rewards.dtype)
    known = weights.sum(dim=1, keepdim=True) > 0
    return above(rewards, weighted_mean(rewards, weights), mask & known)

"""MaxRL advantage (arXiv 2602.02710): the policy gradient of the log-likelihood of success."""

import torch
from torch import Tensor

from trainer_core.methods.advantages.group import centred_on_group, weighted_mean
from trainer_core.methods.advantages.inputs import Inputs
from trainer_core.spec.methods.advantage import MaxRLAdvantage


def maxrl(spec: MaxRLAdvantage, rewards: Tensor, mask: Tensor, inputs: Inputs) -> Tensor:
    """``A_i = (r_i − mean(r)) / mean(r)`` within each group [G, S]; 0 where the mean is not above 0."""
    mean = weighted_mean(rewards, mask.to(rewards.dtype))
    return (centred_on_group(rewards, mask) / torch.where(mean > 0, mean, 1.0)).masked_fill(mean <= 0, 0.0)

"""RLOO advantage (Back to Basics, arXiv 2402.14740): the other samples of the group are the baseline."""

from torch import Tensor

from trainer_core.methods.advantages.group import centred_on_group
from trainer_core.methods.advantages.inputs import Inputs
from trainer_core.spec.methods.advantage import RLOOAdvantage


def rloo(spec: RLOOAdvantage, rewards: Tensor, mask: Tensor, inputs: Inputs) -> Tensor:
    """``A_i = r_i − mean of the others`` [G, S], as ``n / (n − 1) · (r_i − mean(r))``; a group of one gets 0."""
    count = mask.sum(dim=1, keepdim=True)
    return centred_on_group(rewards, mask) * count / (count - 1).clamp(min=1)

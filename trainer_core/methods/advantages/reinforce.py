"""REINFORCE with the batch's mean reward as baseline (Williams 1992)."""

from torch import Tensor

from trainer_core.methods.advantages.group import centred_on_group
from trainer_core.methods.advantages.inputs import Inputs
from trainer_core.spec.methods.advantage import ReinforceAdvantage


def reinforce(spec: ReinforceAdvantage, rewards: Tensor, mask: Tensor, inputs: Inputs) -> Tensor:
    """``A = r − mean(r)`` over all counted samples of the batch [G, S]: the batch is one group."""
    return centred_on_group(rewards.reshape(1, -1), mask.reshape(1, -1)).reshape(rewards.shape)

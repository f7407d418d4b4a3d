"""GRPO advantage (DeepSeekMath, arXiv 2402.03300, §4.1.2): standardised within the group."""

from torch import Tensor

from trainer_core.methods.advantages.group import standardised
from trainer_core.methods.advantages.inputs import Inputs
from trainer_core.spec.methods.advantage import GRPOAdvantage


def grpo(spec: GRPOAdvantage, rewards: Tensor, mask: Tensor, inputs: Inputs) -> Tensor:
    """``A_i = (r_i − mean(r)) / (std(r) + ε)`` within each group [G, S]."""
    return standardised(rewards, mask, spec.std, spec.epsilon)

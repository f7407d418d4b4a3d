"""Dr. GRPO advantage (arXiv 2503.20783): centred on the group's mean, not divided by its deviation."""

from torch import Tensor

from trainer_core.methods.advantages.group import centred_on_group
from trainer_core.methods.advantages.inputs import Inputs
from trainer_core.spec.methods.advantage import DrGRPOAdvantage


def dr_grpo(spec: DrGRPOAdvantage, rewards: Tensor, mask: Tensor, inputs: Inputs) -> Tensor:
    """``A_i = r_i − mean(r)`` within each group [G, S]."""
    return centred_on_group(rewards, mask)

"""Advantages: from the rewards of groups to one number per sample."""

from torch import Tensor

from trainer_core.methods.advantages.dr_grpo import dr_grpo
from trainer_core.methods.advantages.grpo import grpo
from trainer_core.spec.advantage import Advantage, DrGRPOAdvantage, GRPOAdvantage


def compute(spec: Advantage, rewards: Tensor, mask: Tensor) -> Tensor:
    """Advantages [G, S] of ``rewards`` [G, S]; samples outside ``mask`` [G, S] do not count and get 0."""
    match spec:
        case GRPOAdvantage():
            return grpo(spec, rewards, mask)
        case DrGRPOAdvantage():
            return dr_grpo(rewards, mask)

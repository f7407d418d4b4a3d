"""GRPO advantage (DeepSeekMath, arXiv 2402.03300, §4.1.2): standardised within the group."""

from torch import Tensor

from trainer_core.methods.advantages.dr_grpo import dr_grpo
from trainer_core.spec.advantage import GRPOAdvantage


def grpo(spec: GRPOAdvantage, rewards: Tensor, mask: Tensor) -> Tensor:
    """``A_i = (r_i − mean(r)) / (std(r) + ε)`` within each group.

    The deviation divides by n (``population``) or n − 1 (``sample``). A group of one, or of equal rewards, gets 0:
    never its raw reward, and never 0 / 0.

    Args:
        spec: which deviation, and ε.
        rewards: shape [groups, samples].
        mask: shape [groups, samples]; samples outside it do not count.
    """
    centred = dr_grpo(rewards, mask)
    count = mask.sum(dim=1, keepdim=True)
    degrees = (count - (1 if spec.std == "sample" else 0)).clamp(min=1)
    std = (centred.square().sum(dim=1, keepdim=True) / degrees).sqrt()
    return (centred / (std + spec.epsilon)).masked_fill(std == 0, 0.0)

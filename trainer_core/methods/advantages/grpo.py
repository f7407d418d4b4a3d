"""GRPO advantage (DeepSeekMath, arXiv 2402.03300, §4.1.2): standardised within the group."""

from torch import Tensor

from trainer_core.methods.advantages.dr_grpo import dr_grpo
from trainer_core.methods.advantages.group import deviation
from trainer_core.spec.methods.advantage import Deviation


def grpo(rewards: Tensor, mask: Tensor, std: Deviation, epsilon: float) -> Tensor:
    """``A_i = (r_i − mean(r)) / (std(r) + ε)`` within each group.

    A group of one, or of equal rewards, gets 0: never its raw reward, and never 0 / 0.

    Args:
        rewards: shape [groups, samples].
        mask: shape [groups, samples]; samples outside it do not count.
        std: divide by n (``population``) or n − 1 (``sample``).
        epsilon: added to the deviation.
    """
    centred = dr_grpo(rewards, mask)
    spread = deviation(centred, mask, std)
    return (centred / (spread + epsilon)).masked_fill(spread == 0, 0.0)

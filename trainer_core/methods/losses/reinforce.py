"""REINFORCE (Williams 1992)."""

from torch import Tensor

from trainer_core.methods.masked import masked_mean
from trainer_core.methods.view import TokenView


def reinforce(view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """``−A · log π``, shape [N]. Off-policy tokens are left to the corrections."""
    return -view.advantages * view.logprobs, {"actor/ppo_kl": masked_mean(-view.log_ratio.detach(), view.mask)}

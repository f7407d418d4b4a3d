"""REINFORCE (Williams 1992)."""

from torch import Tensor

from trainer_core.methods.losses.ratio import drift
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.loss import ReinforceLoss


def reinforce(spec: ReinforceLoss, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """``−A · log π``, shape [N]. The corrections handle off-policy tokens."""
    return -view.advantages * view.logprobs, drift(view)

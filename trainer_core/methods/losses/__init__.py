"""Policy losses: one value per token, before corrections and aggregation."""

from torch import Tensor

from trainer_core.methods.losses.ppo_clip import ppo_clip
from trainer_core.methods.losses.reinforce import reinforce
from trainer_core.methods.view import TokenView
from trainer_core.spec.loss import Loss, PPOClipLoss, ReinforceLoss


def token_loss(spec: Loss, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """Loss of each token [N] with its metrics (means over the mask, 0-dim, without gradient)."""
    match spec:
        case PPOClipLoss():
            return ppo_clip(spec, view)
        case ReinforceLoss():
            return reinforce(view)

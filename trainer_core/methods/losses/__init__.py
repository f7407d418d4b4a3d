"""Policy losses: one value per token, before corrections and aggregation."""

from torch import Tensor

from trainer_core.methods.losses.ppo_clip import ppo_clip
from trainer_core.methods.losses.reinforce import reinforce
from trainer_core.spec.loss import Loss, PPOClipLoss, ReinforceLoss


def token_loss(
    spec: Loss, logprobs: Tensor, old_logprobs: Tensor, advantages: Tensor, mask: Tensor
) -> tuple[Tensor, dict[str, Tensor]]:
    """Loss of each token [N] with its metrics (means over the mask, 0-dim, without gradient).

    Args:
        spec: which loss.
        logprobs: current policy [N], with gradient.
        old_logprobs: the learner's before the step's first update [N].
        advantages: [N].
        mask: tokens that count [N].
    """
    match spec:
        case PPOClipLoss():
            return ppo_clip(spec, logprobs, old_logprobs, advantages, mask)
        case ReinforceLoss():
            return reinforce(logprobs, old_logprobs, advantages, mask)

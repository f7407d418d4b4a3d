"""Mastered positive tokens (UloRL, arXiv 2507.19766, §3.2): tokens that the policy is certain of are not trained
further."""

import torch
from torch import Tensor

from trainer_core.rewards.success import least
from trainer_core.spec.methods.filters import MasteredTokensFilter


def mastered_tokens(spec: MasteredTokensFilter, logprobs: Tensor, entropies: Tensor, rewards: Tensor) -> Tensor:
    """Mask of the tokens that are trained on, bool [N]: all, while the mean entropy reaches the target.

    Args:
        spec: probability, target entropy, what counts as right.
        logprobs: the learner's, at the sampling temperature, shape [N].
        entropies: in nats, shape [N]; their mean is compared with the target.
        rewards: the rewards of the token's completion, shape [N].
    """
    if len(entropies) == 0 or float(entropies.double().mean()) >= spec.target_entropy:
        return torch.ones_like(entropies, dtype=torch.bool)
    return ~((rewards >= least(spec.success)) & (logprobs.double().exp() >= spec.probability))

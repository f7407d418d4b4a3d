"""High-entropy tokens (Beyond the 80/20 rule, arXiv 2506.01939): only tokens at which the policy makes a choice are
trained on."""

import torch
from torch import Tensor

from trainer_core.spec.methods.filters import HighEntropyTokensFilter


def high_entropy(spec: HighEntropyTokensFilter, logprobs: Tensor, entropies: Tensor, rewards: Tensor) -> Tensor:
    """Mask of the minibatch's tokens in the top ``share`` by entropy, bool [N]; ties at the edge are kept.

    Args:
        spec: the share.
        logprobs: shape [N]; not used.
        entropies: the learner's, in nats, shape [N].
        rewards: shape [N]; not used.
    """
    if len(entropies) == 0:
        return torch.ones(0, dtype=torch.bool)
    kept = max(1, round(spec.share * len(entropies)))
    return entropies >= entropies.sort(descending=True).values[kept - 1]

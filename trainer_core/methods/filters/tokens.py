"""Filters of tokens: which keep their advantage, given what the learner thinks of them.

A token that is left out keeps its place in the denominators, as in the papers' objectives.
"""

import torch
from torch import Tensor

from trainer_core.rewards.success import least
from trainer_core.spec.methods.filters import Filter, HighEntropyTokensFilter, MasteredTokensFilter

TokenFilter = HighEntropyTokensFilter | MasteredTokensFilter


def token_filters(filters: tuple[Filter, ...]) -> list[TokenFilter]:
    """Those that choose among tokens."""
    return [spec for spec in filters if isinstance(spec, TokenFilter)]


def high_entropy(spec: HighEntropyTokensFilter, entropies: Tensor) -> Tensor:
    """Which tokens of the minibatch are among the ``share`` of highest entropy [N] → bool [N] (arXiv 2506.01939).

    Ties at the threshold are kept.
    """
    if len(entropies) == 0:
        return torch.ones(0, dtype=torch.bool)
    kept = max(1, round(spec.share * len(entropies)))
    return entropies >= entropies.sort(descending=True).values[kept - 1]


def mastered(spec: MasteredTokensFilter, logprobs: Tensor, entropies: Tensor, rewards: Tensor) -> Tensor:
    """Which tokens are trained on → bool [N] (UloRL, arXiv 2507.19766, §3.2).

    Args:
        spec: probability, target entropy, what counts as right.
        logprobs: the learner's, at the sampling temperature, shape [N].
        entropies: shape [N]; their mean is compared with the target.
        rewards: of the token's completion, shape [N].
    """
    if len(entropies) == 0 or float(entropies.double().mean()) >= spec.target_entropy:
        return torch.ones_like(entropies, dtype=torch.bool)
    return ~((rewards >= least(spec.success)) & (logprobs.double().exp() >= spec.probability))


def keep(spec: TokenFilter, logprobs: Tensor, entropies: Tensor, rewards: Tensor) -> Tensor:
    """Which of a minibatch's tokens keep their advantage: shapes [N] → bool [N]."""
    match spec:
        case HighEntropyTokensFilter():
            return high_entropy(spec, entropies)
        case MasteredTokensFilter():
            return mastered(spec, logprobs, entropies, rewards)

"""On-policy distillation: KL(π_θ ‖ teacher) on the policy's own samples (GKD, arXiv 2306.13649; Lu et al. 2025)."""

import torch
from torch import Tensor

from trainer_core.methods.kl import penalty


def sampled_token(logprobs: Tensor, teacher_logprobs: Tensor) -> Tensor:
    """One value per token [N] from the probabilities of only the sampled token.

    The k2 estimate: its expected gradient is that of the divergence. It equals a policy gradient whose advantage is
    log π_teacher − log π_θ.
    """
    return penalty("k2", logprobs, teacher_logprobs.detach())


def full_distribution(log_probs: Tensor, teacher_log_probs: Tensor) -> Tensor:
    """``Σ_v p_v (log p_v − log q_v)`` over the vocabulary, both log-probabilities [N, V] → [N]. No sampling noise.

    Tokens with probability 0 under the policy add nothing; a token with probability 0 only under the teacher makes the
    value infinite.
    """
    possible = ~log_probs.isneginf()
    difference = log_probs.masked_fill(~possible, 0.0) - teacher_log_probs.detach().masked_fill(~possible, 0.0)
    return (log_probs.exp() * difference).sum(dim=-1)


def sparse_distribution(log_probs: Tensor, teacher_log_probs: Tensor, teacher_ids: Tensor) -> Tensor:
    """The divergence between both distributions over the teacher's k likeliest tokens and "any other": → [N].

    It is never above the divergence over the whole vocabulary, never negative, and 0 only if all k + 1 parts agree.
    Probability that the policy puts on tokens outside the teacher's k counts in the last part.

    Args:
        log_probs: the policy's, [N, V], with gradient.
        teacher_log_probs: the log-probabilities of its k likeliest tokens under its whole distribution, [N, k].
        teacher_ids: which tokens those are, distinct, int64 [N, k].
    """
    chosen = log_probs.gather(1, teacher_ids)
    both = [torch.cat([part, _log_rest(part)], dim=1) for part in (chosen, teacher_log_probs.detach())]
    return full_distribution(*both)


def _log_rest(log_probs: Tensor) -> Tensor:
    """log(1 − Σ p) [N, 1]; rounding may leave a remainder of 0 or less, which is clamped to the dtype's epsilon."""
    rest = 1 - log_probs.exp().sum(dim=1, keepdim=True)
    return rest.clamp(min=torch.finfo(log_probs.dtype).eps).log()

"""Entropy of the policy's distribution over the next token."""

from torch import Tensor


def entropy(logits: Tensor) -> Tensor:
    """``H = log Σ exp(z) − Σ p·z`` in nats: logits [N, V] → [N]. Entries of −inf have probability 0."""
    log_probs = logits.log_softmax(dim=-1)
    return -(log_probs.exp() * log_probs.masked_fill(log_probs.isneginf(), 0.0)).sum(dim=-1)

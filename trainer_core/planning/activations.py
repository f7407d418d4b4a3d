"""Memory that one micro-batch keeps for its backward pass."""

from trainer_core.planning.policy_size import PolicySize
from trainer_core.spec import RunSpec

PLAIN_KEYS = 256
"""Keys up to which attention keeps its probabilities; for more, the fused kernel computes them again."""
KEPT_LOGITS = 1 << 23
"""Logits that the output layer keeps; of more it keeps none."""
TILE_LOGITS = 1 << 20


def activation_bytes(size: PolicySize, spec: RunSpec, tokens: int, keys: int, predicted: int) -> int:
    """Bytes at the worst moment: the end of the forward pass, or the backward pass through the last layer.

    Args:
        size: the size of the policy.
        spec: number type and checkpointing are read from it.
        tokens: packed input tokens of the micro-batch.
        keys: the number of keys that a query is laid out against: about the longest sequence.
        predicted: tokens whose log-probability is asked.
    """
    width = 2 if spec.policy.dtype == "bfloat16" else 4
    layer = tokens * _per_token(size, keys) * width
    passing = tokens * _passing(size, keys) * width
    kept = predicted * size.vocabulary
    # States before the output layer: normalised, gathered, divided by the temperature, and their gradient.
    head = (2 * tokens + predicted) * size.hidden * width + 2 * predicted * size.hidden * 4
    logits = 4 * (2 * kept if kept <= KEPT_LOGITS else 3 * TILE_LOGITS)
    if spec.policy.gradient_checkpointing:
        saved = size.layers * tokens * size.hidden * width + layer
    else:
        saved = size.layers * layer
    # Who may see whom is laid out once, in float32, for all layers.
    return saved + tokens * keys * 4 + max(passing, head + logits)


def _per_token(size: PolicySize, keys: int) -> int:
    """Numbers that one layer keeps of one token."""
    queries, shared = size.heads * size.head_dim, size.kv_heads * size.head_dim
    norms = 4 * size.hidden + (queries + shared if size.normalises_heads else 0)
    # The fused kernel reads keys and values repeated for every head, and keeps its output too.
    attention = 2 * queries + 2 * shared + size.heads * keys if keys <= PLAIN_KEYS else 5 * queries
    return norms + attention + 4 * size.intermediate * size.experts_per_token


def _passing(size: PolicySize, keys: int) -> int:
    """Numbers of one token that live for a moment in the backward pass of one layer, beyond what it has given back."""
    feed_forward = 2 * size.intermediate * size.experts_per_token + size.hidden
    probabilities = 2 * size.heads * keys if keys <= PLAIN_KEYS else 0
    # When attention's turn comes, what the feed-forward part had kept is gone.
    attention = probabilities - 4 * size.intermediate * size.experts_per_token - 2 * size.hidden
    return max(feed_forward, attention)

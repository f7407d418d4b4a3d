"""Memory that one micro-batch keeps for its backward pass."""

from trainer_core.planning.policy_size import PolicySize
from trainer_core.spec import RunSpec

PLAIN_KEYS, MASKED_KEYS = 256, 1024
"""Keys up to which attention keeps its probabilities, and up to which it has a mask."""
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
    passing = tokens * _passing(size, keys) * width
    kept = predicted * size.vocabulary
    # States before the output layer: normalised, gathered, divided by the temperature, and their gradient.
    head = (2 * tokens + predicted) * size.hidden * width + 2 * predicted * size.hidden * 4
    logits = 4 * (2 * kept if kept <= KEPT_LOGITS else 3 * TILE_LOGITS)
    dense = tokens * _per_token(size, keys, _dense(size), width) * width
    sparse = tokens * _per_token(size, keys, _mixture(size), width) * width
    if spec.policy.gradient_checkpointing:
        saved = size.layers * tokens * size.hidden * width + max(sparse, dense if size.dense_layers else 0)
    else:
        saved = size.dense_layers * dense + (size.layers - size.dense_layers) * sparse
    # Who may see whom is laid out once, in float32, for all layers.
    masks = tokens * keys * 4 if keys <= MASKED_KEYS else 0
    return int(saved + masks + max(passing, head + logits))


def _dense(size: PolicySize) -> int:
    """Numbers that a feed-forward layer without experts keeps of one token."""
    return 4 * size.dense_intermediate


def _mixture(size: PolicySize) -> int:
    """The same with experts: each keeps a copy of its input and of its output."""
    if size.experts_per_token == 1 and size.intermediate == size.dense_intermediate and not size.shared_intermediate:
        return _dense(size)
    gates = 7 if size.clamps_gates else 4
    own = size.experts_per_token * (gates * size.intermediate + 2 * size.hidden)
    return own + 4 * size.shared_intermediate


def _per_token(size: PolicySize, keys: int, feed_forward: int, width: int) -> int:
    """Numbers of ``width`` bytes that one layer keeps of one token."""
    norms = size.norms * size.hidden * (4 if size.lean_norms else 5) // 2
    return norms + _attention(size, keys, width) + feed_forward


def _attention(size: PolicySize, keys: int, width: int) -> int:
    queries, shared = size.heads * size.head_dim, size.kv_heads * size.head_dim
    values, out = size.kv_heads * size.value_dim, size.heads * size.value_dim
    before = (queries + shared) if size.normalises_heads else 0
    if size.latent is not None:
        # Both sides of each inner norm; keys and values stand in one tensor before they are parted.
        before = 2 * (size.latent.queries + size.latent.keys) + size.heads * (size.head_dim - size.latent.rotated)
    if keys <= PLAIN_KEYS:
        # The softmax keeps its result in 32 bits, and the product with the values keeps it in the policy's.
        return before + queries + shared + values + out + size.heads * keys * (1 if width == 4 else 3)
    if keys <= MASKED_KEYS and not size.cuts_kernels and size.head_dim == size.value_dim:
        # The fused kernel with a mask reads keys and values repeated for every head.
        return before + 5 * queries
    return before + queries + shared + values + 2 * out


def _passing(size: PolicySize, keys: int) -> int:
    """Numbers of one token that live for a moment in the backward pass of one layer, beyond what it has given back."""
    widest = max(size.experts_per_token * size.intermediate + size.shared_intermediate, size.intermediate)
    feed_forward = 2 * widest + size.hidden * size.experts_per_token
    probabilities = 2 * size.heads * keys if keys <= PLAIN_KEYS else 0
    # When attention's turn comes, what the feed-forward part had kept is gone.
    attention = probabilities - 4 * widest - 2 * size.hidden
    return max(feed_forward, attention)

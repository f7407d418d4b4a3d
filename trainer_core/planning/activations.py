"""Memory of one micro-batch in addition to weights, from the end of its forward pass to the end of its backward pass.

Every term counts the bytes of tensors that exist at that moment, derived from the learner's own code: what each layer
saves for its backward pass, and its temporaries. A number stored in the policy's type has ``width`` bytes, a number
computed in float32 has 4.
"""

from dataclasses import dataclass

from trainer_core.planning.policy_size import PolicySize
from trainer_core.planning.whole_logits import WIDE, whole_logits
from trainer_core.spec import RunSpec
from trainer_core.spec.learner.adapter import LoRAAdapter

PLAIN_KEYS, MASKED_KEYS = 256, 1024
"""Most keys for which attention saves its probabilities, and most keys for which it has a mask."""
KEPT_LOGITS = 1 << 23
"""Most logits that the output layer saves; if there are more, it saves none."""
TILE_LOGITS = 1 << 20
"""Logits in one tile of the output layer."""
TILE_TOKENS = 1024
"""Most tokens in one tile of the output layer."""


@dataclass(frozen=True, slots=True)
class Activations:
    """Bytes of one micro-batch at the two moments that can be the peak."""

    first: int
    """Bytes between the end of the forward pass and the backward pass through the last layer, when no layer has freed
    what it saved. Includes the gradient of the output layer, which is the first gradient."""
    last: int
    """Bytes in the backward pass through the first layer, when all gradients exist. Excludes the gradients, but
    includes the narrow copy that the latest one was made from."""
    host: int = 0
    """Bytes in host memory instead, if activations are offloaded."""


def activations(
    size: PolicySize, spec: RunSpec, tokens: int, keys: int, predicted: int, *, on_card: bool = False
) -> Activations:
    """Bytes of a micro-batch.

    Args:
        size: the size of the policy.
        spec: number type, adapter and checkpointing are taken from it.
        tokens: packed input tokens of the micro-batch.
        keys: the number of keys laid out for a query: about the longest sequence.
        predicted: tokens whose log-probability is needed.
        on_card: whether the learner has a GPU.
    """
    width = 2 if spec.policy.dtype == "bfloat16" else WIDE
    dense = tokens * _layer(size, keys, _dense(size), width)
    sparse = tokens * _layer(size, keys, _mixture(size), width)
    if spec.policy.gradient_checkpointing:
        one = max(sparse, dense if size.dense_layers else 0)
        saved = size.layers * tokens * (size.hidden * width + _kept(size, spec, width, on_card)) + one
    else:
        one = dense if size.dense_layers else sparse
        saved = size.dense_layers * dense + (size.layers - size.dense_layers) * sparse
    host = 0
    if spec.policy.activation_offload:
        # Offloaded activations return one layer at a time.
        host, saved = saved - (one if spec.policy.gradient_checkpointing else 0), one
    passing = tokens * _passing(size, keys, width)
    masks = tokens * keys * width if keys <= MASKED_KEYS else 0
    if size.window is not None and size.window < keys <= MASKED_KEYS:
        masks *= 2  # layers with a window have their own mask
    frozen = isinstance(spec.policy.adapter, LoRAAdapter)
    # The last norm's input and output, and its rows that predict something.
    states = (2 * tokens + predicted) * size.hidden * width
    head = states + (whole_logits if spec.needs_logits else _by_tiles)(size, spec, predicted, width)
    to_head = 0 if frozen else size.vocabulary * size.hidden * width
    # A narrow gradient is accumulated in float32, then freed.
    copied = 0 if frozen or width == WIDE else size.largest * width
    return Activations(
        first=saved + masks + max(passing + to_head, head),
        last=one + masks + passing + copied,
        host=host,
    )


def _kept(size: PolicySize, spec: RunSpec, width: int, on_card: bool) -> int:
    """Bytes per token of the attention that a recomputed layer keeps (``packed/reused.py``)."""
    if not on_card or width == WIDE or size.cuts_kernels or spec.policy.activation_offload:
        return 0
    return size.heads * (size.head_dim * width + WIDE)


def _by_tiles(size: PolicySize, spec: RunSpec, predicted: int, width: int) -> int:
    """The output layer at its peak, if only the sampled tokens' log-probabilities are needed."""
    scaled = predicted * size.hidden * WIDE
    logits = predicted * size.vocabulary
    if logits <= KEPT_LOGITS:
        columns = size.vocabulary
        # Forward: logits, their distances to the maximum and the exponentials of these. Backward: logits and their
        # gradient.
        forward, backward = 3 * logits * WIDE, 2 * logits * WIDE
    else:
        columns = min(size.vocabulary, TILE_LOGITS // min(TILE_TOKENS, predicted))
        forward = backward = 3 * TILE_LOGITS * WIDE
    to_weight = size.vocabulary * size.hidden * width
    # Products for narrow weights are summed in float32, one run of columns at a time: the sum and the latest product.
    summed = 2 * columns * size.hidden * WIDE if width < WIDE else 0
    return scaled + max(forward, backward + scaled + to_weight + summed)


def _dense(size: PolicySize) -> int:
    """Numbers per token that a feed-forward layer without experts saves."""
    return 4 * size.dense_intermediate


def _mixture(size: PolicySize) -> int:
    """Numbers per token with experts: each expert saves a copy of its input and of its output."""
    if size.experts_per_token == 1 and size.intermediate == size.dense_intermediate and not size.shared_intermediate:
        return _dense(size)
    gates = 7 if size.clamps_gates else 4
    own = size.experts_per_token * (gates * size.intermediate + 2 * size.hidden)
    return own + 4 * size.shared_intermediate


def _layer(size: PolicySize, keys: int, feed_forward: int, width: int) -> int:
    """Bytes per token that one layer saves."""
    # The input of every norm, and of the matrices of both parts.
    norms = (size.norms + 2) * size.hidden
    if not size.lean_norms and width == WIDE:
        # Gemma's own norm saves the normalised values in addition to its input.
        norms = size.norms * size.hidden * 5 // 2
    return (norms + feed_forward) * width + _attention(size, keys, width)


def _attention(size: PolicySize, keys: int, width: int) -> int:
    """Bytes per token that one layer's attention saves."""
    queries, shared = size.heads * size.head_dim, size.kv_heads * size.head_dim
    values, out = size.kv_heads * size.value_dim, size.heads * size.value_dim
    before = (queries + shared) if size.normalises_heads else 0
    if size.latent is not None:
        # Both sides of each inner norm; keys and values are in one tensor before they are split.
        before = 2 * (size.latent.queries + size.latent.keys) + size.heads * (size.head_dim - size.latent.rotated)
    if keys <= PLAIN_KEYS:
        # The softmax saves its result in 32 bits, and the product with the values saves it in the policy's type.
        probabilities = size.heads * keys * (WIDE if width == WIDE else WIDE + width)
        return (before + queries + shared + values + out) * width + probabilities
    sums = size.heads * WIDE
    if keys <= MASKED_KEYS and not size.cuts_kernels and size.head_dim == size.value_dim:
        # The fused kernel with a mask needs keys and values repeated for every head.
        return (before + 5 * queries) * width + sums
    return (before + queries + shared + values + 2 * out) * width + sums


def _passing(size: PolicySize, keys: int, width: int) -> int:
    """Temporary bytes per token in the backward pass of one layer, beyond what it has freed."""
    widest = max(size.experts_per_token * size.intermediate + size.shared_intermediate, size.intermediate)
    feed_forward = (2 * widest + size.hidden * size.experts_per_token) * width
    # Once attention runs, the saved tensors of the feed-forward part are freed.
    freed = (4 * widest + 2 * size.hidden) * width
    return max(feed_forward, _attending(size, keys, width) - freed)


def _attending(size: PolicySize, keys: int, width: int) -> int:
    """Temporary bytes per token in the backward pass of the attention."""
    queries, out = size.heads * size.head_dim, size.heads * size.value_dim
    if keys <= PLAIN_KEYS:
        # The probabilities' gradient and the scores', in float32.
        return 2 * size.heads * keys * WIDE
    if keys <= MASKED_KEYS:
        return 0
    # Output and its gradient in float32; the gradients of queries, and, accumulated in float32, of keys and values.
    wide = 2 * out * WIDE if width < WIDE else 0
    return wide + 2 * queries * width + size.kv_heads * (size.head_dim + size.value_dim) * (WIDE + width)

"""Memory of logits that stand whole: what updates take that look at more than the sampled tokens' probabilities."""

from trainer_core.planning.policy_size import PolicySize
from trainer_core.spec import RunSpec
from trainer_core.spec.methods.entropy import NoEntropyBonus

WIDE = 4
"""Bytes of a float32 number: logits are computed in it, whatever the policy's type is."""
CHUNK_LOGITS = 1 << 24
"""Logits whose temporary copies stand at a time, where a function goes through them by chunks."""
FULL, SPARSE = 7, 5
"""Matrices of logits that a teacher's whole distributions take with the policy's: both as they came and as
log-probabilities, what the divergence keeps of them, and its gradients; and those of its likeliest tokens alone."""


def whole_logits(size: PolicySize, spec: RunSpec, predicted: int, width: int) -> int:
    """Bytes at the worst moment between the end of the forward pass and the output layer's own backward pass.

    Args:
        size: the size of the policy.
        spec: the spec, which needs logits.
        predicted: tokens whose distribution is looked at.
        width: bytes of a number of the policy.
    """
    matrix = predicted * size.vocabulary * WIDE
    chunk = min(matrix, CHUNK_LOGITS * WIDE)
    pays_entropy = not isinstance(spec.entropy, NoEntropyBonus)
    readers = 1 + int(pays_entropy) + int(spec.loss.candidates > 0)
    # Forward: the logits, and of a chunk what its entropy is made of.
    moments = [matrix + 3 * chunk]
    # Backward: the logits; the gradient so far and the next reader's, which is made a chunk at a time.
    moments.append(min(1 + readers, 3) * matrix + chunk)
    if pays_entropy:
        # The bonus comes last and so goes first: its gradient alone, and five copies of a chunk.
        moments.append(2 * matrix + 5 * chunk)
    if spec.distillation is not None and spec.distillation.distribution != "sampled":
        moments.append((FULL if spec.distillation.distribution == "full" else SPARSE) * matrix)
    # A narrow layer multiplies by a wide copy of its weights, and of the states that it reads.
    copies = (size.vocabulary + predicted) * size.hidden * WIDE if width < WIDE else 0
    to_weight = matrix + (size.vocabulary + predicted) * size.hidden * WIDE
    return copies + max(*moments, to_weight)

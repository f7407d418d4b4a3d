"""Memory of full logits, for updates that need more than the sampled tokens' probabilities."""

from trainer_core.planning.policy_size import PolicySize
from trainer_core.spec import RunSpec
from trainer_core.spec.methods.entropy import NoEntropyBonus

WIDE = 4
"""Bytes of a float32 number: logits are always float32, independent of the policy's type."""
CHUNK_LOGITS = 1 << 24
"""Logits with temporary copies at any one time, in functions that process them in chunks."""
FULL, SPARSE = 7, 5
"""Matrices of logits that a teacher's full distributions take together with the policy's: both raw and as
log-probabilities, what the divergence saves, and its gradients. The second number is for the teacher's likeliest tokens
alone."""


def whole_logits(size: PolicySize, spec: RunSpec, predicted: int, width: int) -> int:
    """Peak bytes between the end of the forward pass and the output layer's own backward pass.

    Args:
        size: the size of the policy.
        spec: the spec, which needs logits.
        predicted: tokens whose distribution is needed.
        width: bytes of a number of the policy.
    """
    matrix = predicted * size.vocabulary * WIDE
    chunk = min(matrix, CHUNK_LOGITS * WIDE)
    pays_entropy = not isinstance(spec.entropy, NoEntropyBonus)
    readers = 1 + int(pays_entropy) + int(spec.loss.candidates > 0)
    # Forward: the logits, and the temporaries of one chunk's entropy.
    moments = [matrix + 3 * chunk]
    # Backward: the logits; the gradient so far and that of the next consumer, which is computed chunk by chunk.
    moments.append(min(1 + readers, 3) * matrix + chunk)
    if pays_entropy:
        # The bonus is computed last, so its backward pass runs first: its gradient alone, and five copies of a chunk.
        moments.append(2 * matrix + 5 * chunk)
    if spec.distillation is not None and spec.distillation.distribution != "sampled":
        moments.append((FULL if spec.distillation.distribution == "full" else SPARSE) * matrix)
    # A narrow layer multiplies by a wide copy of its weights and of its input states.
    copies = (size.vocabulary + predicted) * size.hidden * WIDE if width < WIDE else 0
    to_weight = matrix + (size.vocabulary + predicted) * size.hidden * WIDE
    return copies + max(*moments, to_weight)

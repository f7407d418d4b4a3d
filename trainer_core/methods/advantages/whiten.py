"""Batch whitening: advantages with mean 0 and deviation 1 over the whole batch."""

import torch
from torch import Tensor

from trainer_core.methods.advantages.equality import differ
from trainer_core.spec.methods.advantage import Deviation


def whiten(values: Tensor, weights: Tensor, std: Deviation, epsilon: float) -> Tensor:
    """``(a − mean(a)) / (std(a) + ε)`` over the batch.

    Values that are all equal up to rounding (``equality``) become 0, not 0 / 0 and not ±1.

    Args:
        values: shape [groups, samples].
        weights: weight of each value, shape [groups, samples]: 1 per sample, or its tokens; 0 leaves it out.
        std: divide by the sum of the weights (``population``) or by it − 1 (``sample``).
        epsilon: added to the deviation.

    Returns:
        Shape [groups, samples]; 0 where the weight is 0.
    """
    counted = weights > 0
    if not bool(counted.any()) or not bool(differ(values[counted].min(), values[counted].max())):
        return torch.zeros_like(values)
    total = weights.sum()
    known = values.masked_fill(~counted, 0.0)
    centred = (known - (known * weights).sum() / total).masked_fill(~counted, 0.0)
    variance = (weights * centred.square()).sum() / (total - (1 if std == "sample" else 0))
    return centred / (variance.sqrt() + epsilon)

"""Standardisation of token advantages over a whole step, on all ranks."""

from collections.abc import Sequence

import torch
from torch import Tensor

from trainer_core.methods.advantages.equality import differ
from trainer_core.spec.methods.advantage import Deviation
from trainer_core.update.collectives import gather_tensors


def standardise(
    values: Sequence[Sequence[Tensor]], weights: Sequence[Sequence[Tensor]], std: Deviation, epsilon: float
) -> list[list[Tensor]]:
    """``(a − mean) / (std + ε)`` over the tokens of all micro-batches of all ranks. Collective.

    Tokens whose advantages are all equal to rounding become 0, not 0 / 0 and not ±1, because nothing distinguishes
    them.

    Args:
        values: by minibatch and micro-batch, float64 [M] each.
        weights: how often each token counts, float64 [M] each; 0 leaves it out.
        std: divide by the sum of the weights (``population``) or by it − 1 (``sample``).
        epsilon: added to the deviation.

    Returns:
        In the same order, float64 [M] each; 0 where the weight is 0.
    """
    tokens = [(one, weight) for part in zip(values, weights, strict=True) for one, weight in zip(*part, strict=True)]
    sums = torch.zeros(2, dtype=torch.float64)
    lowest = torch.full((1,), torch.inf, dtype=torch.float64)
    highest = -lowest
    for one, weight in tokens:
        counted = one[weight > 0].cpu()
        if len(counted):
            sums += torch.stack([weight.sum().cpu(), (one.masked_fill(weight == 0, 0.0) * weight).sum().cpu()])
            lowest, highest = torch.minimum(lowest, counted.min()), torch.maximum(highest, counted.max())
    told = torch.stack(gather_tensors(torch.cat([sums, lowest, highest])))
    total, weighed = told[:, 0].sum(), told[:, 1].sum()
    mean = weighed / total.clamp(min=1e-300)
    ends = torch.stack([told[:, 2].min(), told[:, 3].max()])
    # Non-finite values must reach the loss, which refuses them.
    silent = bool(ends.isfinite().all()) and not bool(differ(*ends))
    squares = torch.zeros(1, dtype=torch.float64)
    for one, weight in tokens:
        squares += (weight * (one - mean.to(one.device)).masked_fill(weight == 0, 0.0).square()).sum().cpu()
    spread = torch.stack(gather_tensors(squares)).sum()
    degrees = (total - (1 if std == "sample" else 0)).clamp(min=1e-300)
    scale = (spread / degrees).sqrt() + epsilon

    def of(one: Tensor, weight: Tensor) -> Tensor:
        if silent:
            return torch.zeros_like(one)
        return ((one - mean.to(one.device)) / scale.to(one.device)).masked_fill(weight == 0, 0.0)

    return [
        [of(one, weight) for one, weight in zip(part, other, strict=True)]
        for part, other in zip(values, weights, strict=True)
    ]

"""Shared parts of the group methods: means, deviations and whether a group carries a signal."""

import torch
from torch import Tensor

from trainer_core.methods.advantages.equality import differ
from trainer_core.spec.methods.advantage import Deviation


def has_signal(values: Tensor, mask: Tensor) -> Tensor:
    """Whether the counted values of each group [G, S] differ → bool [G, 1]. A group with at most one value has none.

    Values that differ by no more than rounding (``equality``) are equal.
    """
    highest = values.masked_fill(~mask, -float("inf")).amax(dim=1, keepdim=True)
    lowest = values.masked_fill(~mask, float("inf")).amin(dim=1, keepdim=True)
    return differ(lowest, highest)


def weighted_mean(values: Tensor, weights: Tensor) -> Tensor:
    """Mean of each group [G, S] by ``weights`` [G, S] → [G, 1]; 0 where they sum to 0. Values of weight 0 may be
    NaN."""
    total = weights.sum(dim=1, keepdim=True)
    weighed = values.masked_fill(weights == 0, 0.0) * weights
    return (weighed.sum(dim=1, keepdim=True) / torch.where(total > 0, total, 1.0)).masked_fill(total <= 0, 0.0)


def above(values: Tensor, baseline: Tensor, mask: Tensor) -> Tensor:
    """``values`` − ``baseline``, exactly 0 outside the mask and where a group carries no signal.

    Equal rewards must give 0 however their mean is rounded: a rounding error divided by a deviation of the same size
    would become a signal.
    """
    return (values - baseline).masked_fill(~(mask & has_signal(values, mask)), 0.0)


def deviation(centred: Tensor, mask: Tensor, std: Deviation) -> Tensor:
    """Standard deviation of values that have mean 0 in their group [G, S] → [G, 1]; 0 for a group of one."""
    degrees = (mask.sum(dim=1, keepdim=True) - (1 if std == "sample" else 0)).clamp(min=1)
    return (centred.square().sum(dim=1, keepdim=True) / degrees).sqrt()


def centred_on_group(rewards: Tensor, mask: Tensor) -> Tensor:
    """``r_i − mean(r)`` within each group [G, S]; 0 outside the mask, and exactly 0 where all rewards are equal."""
    return above(rewards, weighted_mean(rewards, mask.to(rewards.dtype)), mask)


def standardised(rewards: Tensor, mask: Tensor, std: Deviation, epsilon: float) -> Tensor:
    """``(r_i − mean(r)) / (std(r) + ε)`` within each group [G, S].

    A group of one, or of equal rewards, gets 0: never its raw reward, and never 0 / 0.

    Args:
        rewards: shape [groups, samples].
        mask: shape [groups, samples]; samples outside it do not count.
        std: divide by n (``population``) or n − 1 (``sample``).
        epsilon: added to the deviation.
    """
    centred = centred_on_group(rewards, mask)
    spread = deviation(centred, mask, std)
    return (centred / (spread + epsilon)).masked_fill(spread == 0, 0.0)

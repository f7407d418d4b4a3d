"""Pass@k advantage (Pass@k Training, arXiv 2508.10751): over all sets of k samples, in closed form."""

from math import comb

import torch
from torch import Tensor

from trainer_core.methods.advantages.inputs import Inputs
from trainer_core.rewards.success import least
from trainer_core.spec.methods.advantage import PassKAdvantage


def pass_k(spec: PassKAdvantage, rewards: Tensor, mask: Tensor, inputs: Inputs) -> Tensor:
    """Mean standardised reward of all sets of k samples of the group that contain the sample.

    A set has reward 1 if one of its samples is right. Of n samples with c right ones, a set has mean
    ``ρ = 1 − C(n−c, k)/C(n, k)`` and deviation ``σ = √(ρ(1 − ρ))``. A right sample makes all of its sets right; the
    sets of a wrong sample are wrong with probability ``C(n−c−1, k−1)/C(n−1, k−1)``.

    Args:
        spec: k, what counts as right, ε.
        rewards: shape [groups, samples].
        mask: shape [groups, samples]; samples outside it are ignored. A group with fewer than k samples gets 0.
        inputs: not used.
    """
    result = torch.zeros_like(rewards)
    for row in range(len(rewards)):
        counted = mask[row]
        right = counted & (rewards[row] >= least(spec.success))
        n, c = int(counted.sum()), int(right.sum())
        if n < spec.k:
            continue
        fails = comb(n - c, spec.k) / comb(n, spec.k)
        sigma = (fails * (1 - fails)) ** 0.5
        if sigma == 0:
            continue
        wrong_sets = comb(n - c - 1, spec.k - 1) / comb(n - 1, spec.k - 1)
        result[row][right] = fails / (sigma + spec.epsilon)
        result[row][counted & ~right] = (fails - wrong_sets) / (sigma + spec.epsilon)
    return result

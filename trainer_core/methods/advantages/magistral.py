"""Magistral advantage (arXiv 2506.10910): the group's mean, the minibatch's deviation."""

import torch
from torch import Tensor

from trainer_core.methods.advantages.dr_grpo import dr_grpo
from trainer_core.methods.advantages.whiten import whiten
from trainer_core.spec.methods.advantage import MagistralAdvantage


def magistral(spec: MagistralAdvantage, rewards: Tensor, mask: Tensor, minibatch: Tensor) -> Tensor:
    """``a = r − mean_group``, then ``(a − mean) / (std + ε)`` over each minibatch.

    Args:
        spec: deviation, ε.
        rewards: shape [groups, samples].
        mask: shape [groups, samples]; samples outside it do not count.
        minibatch: number of the minibatch that each group is learned in, shape [groups].
    """
    centred = dr_grpo(rewards, mask)
    result = torch.zeros_like(centred)
    for number in minibatch.unique():
        rows = minibatch == number
        result[rows] = whiten(centred[rows], mask[rows].to(centred.dtype), spec.std, spec.epsilon)
    return result

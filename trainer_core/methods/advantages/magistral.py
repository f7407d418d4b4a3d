"""Magistral advantage (arXiv 2506.10910): the group's mean, the minibatch's deviation."""

import torch
from torch import Tensor

from trainer_core.methods.advantages.group import centred_on_group
from trainer_core.methods.advantages.inputs import Inputs
from trainer_core.methods.advantages.whiten import whiten
from trainer_core.spec.methods.advantage import MagistralAdvantage


def magistral(spec: MagistralAdvantage, rewards: Tensor, mask: Tensor, inputs: Inputs) -> Tensor:
    """``a = r − mean_group``, then ``(a − mean) / (std + ε)`` over each minibatch.

    Args:
        spec: deviation, ε.
        rewards: shape [groups, samples].
        mask: shape [groups, samples]; samples outside it are ignored.
        inputs: only the minibatches are used; if they are unknown, the batch counts as one.
    """
    centred = centred_on_group(rewards, mask)
    minibatch = torch.zeros(len(rewards), dtype=torch.long) if inputs.minibatch is None else inputs.minibatch
    result = torch.zeros_like(centred)
    for number in minibatch.unique():
        rows = minibatch == number
        result[rows] = whiten(centred[rows], mask[rows].to(centred.dtype), spec.std, spec.epsilon)
    return result

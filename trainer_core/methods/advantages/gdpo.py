"""GDPO advantage (arXiv 2601.05242): every reward part is standardised separately before the parts are summed."""

import torch
from torch import Tensor

from trainer_core.methods.advantages.group import standardised
from trainer_core.methods.advantages.inputs import Inputs
from trainer_core.methods.advantages.whiten import whiten
from trainer_core.spec.methods.advantage import GDPOAdvantage


def gdpo(spec: GDPOAdvantage, rewards: Tensor, mask: Tensor, inputs: Inputs) -> Tensor:
    """Group-standardise each part, sum by weight, whiten over the batch.

    Args:
        spec: deviation, ε.
        rewards: shape [groups, samples]; the parts are used instead.
        mask: shape [groups, samples]; samples outside it are ignored.
        inputs: with the parts of the rewards and their weights.

    Returns:
        Shape [groups, samples]; 0 outside the mask and in groups where no part carries a signal.

    Raises:
        ValueError: the parts are not known.
    """
    if inputs.parts is None or inputs.part_weights is None:
        raise ValueError("GDPO needs the parts of the rewards")
    alone = [standardised(part, mask, spec.std, spec.epsilon) for part in inputs.parts.unbind(dim=2)]
    summed = (torch.stack(alone, dim=2) * inputs.part_weights).sum(dim=2)
    no_signal = torch.stack([(part == 0).all(dim=1) for part in alone], dim=1).all(dim=1, keepdim=True)
    return whiten(summed, mask.to(summed.dtype), spec.std, spec.epsilon).masked_fill(no_signal, 0.0)

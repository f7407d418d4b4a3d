"""GDPO advantage (arXiv 2601.05242): every reward part is standardised alone before the parts are summed."""

import torch
from torch import Tensor

from trainer_core.methods.advantages.grpo import grpo
from trainer_core.methods.advantages.whiten import whiten
from trainer_core.spec.methods.advantage import GDPOAdvantage


def gdpo(spec: GDPOAdvantage, parts: Tensor, part_weights: Tensor, mask: Tensor) -> Tensor:
    """Group-standardise each part, sum by weight, whiten over the batch.

    Args:
        spec: deviation, ε.
        parts: reward parts before any weight, shape [groups, samples, parts].
        part_weights: shape [parts].
        mask: shape [groups, samples]; samples outside it do not count.

    Returns:
        Shape [groups, samples]; 0 outside the mask and in groups none of whose parts carries a signal.
    """
    alone = [grpo(part, mask, spec.std, spec.epsilon) for part in parts.unbind(dim=2)]
    summed = (torch.stack(alone, dim=2) * part_weights).sum(dim=2)
    no_signal = torch.stack([(part == 0).all(dim=1) for part in alone], dim=1).all(dim=1, keepdim=True)
    return whiten(summed, mask.to(summed.dtype), spec.std, spec.epsilon).masked_fill(no_signal, 0.0)

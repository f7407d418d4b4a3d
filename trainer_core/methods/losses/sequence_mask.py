"""Sequence-masked policy optimisation: trust region masking (arXiv 2512.23075)."""

import torch
from torch import Tensor

from trainer_core.methods.losses.ratio import bounded_ratio, drift, share
from trainer_core.methods.ragged import sequence_mean, sequence_sum
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.loss import SequenceMaskLoss


def sequence_mask(spec: SequenceMaskLoss, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """``−M · ρ · A`` with ``ρ = π_θ / π_behaviour``, shape [N]; M is 0 for all tokens of a sequence or for none.

    A sequence that is left out still counts in the average of the loss.
    """
    ratio = bounded_ratio(view.log_behaviour_ratio)
    with torch.no_grad():
        outside = (ratio < spec.ratio_min) | (ratio > spec.ratio_max)
        kept = sequence_sum(outside.to(ratio.dtype), view.sequence) == 0
        if spec.divergence_max is not None:
            divergence = ratio - 1 - view.log_behaviour_ratio
            kept &= sequence_mean(divergence, view.mask, view.sequence) <= spec.divergence_max
        metrics = {"actor/pg_clipfrac": share(~kept, view), **drift(view)}
    # Filled, not multiplied: the ratio that led to the mask may be huge.
    return (-ratio * view.advantages).masked_fill(~kept, 0.0), metrics

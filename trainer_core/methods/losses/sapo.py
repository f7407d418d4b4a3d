"""SAPO: soft adaptive policy optimisation (arXiv 2511.20347)."""

import torch
from torch import Tensor

from trainer_core.methods.losses.ratio import bounded_ratio, by_sign, drift
from trainer_core.methods.masked import masked_mean
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.loss import SAPOLoss


def sapo(spec: SAPOLoss, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """``−(4/τ) · σ(τ(ρ − 1)) · A``, shape [N].

    Its derivative in ρ is ``−4σ(1 − σ) · A``: that of the unclipped surrogate at ρ = 1, decaying on both sides.
    """
    ratio = bounded_ratio(view.log_ratio)
    temperature = by_sign(view.advantages > 0, spec.temperature_positive, spec.temperature_negative, ratio)
    gate = (temperature * (ratio - 1)).sigmoid()
    with torch.no_grad():
        slope = masked_mean(4 * gate * (1 - gate), view.mask)
    return -4 / temperature * gate * view.advantages, {"actor/gate_mean": slope, **drift(view)}

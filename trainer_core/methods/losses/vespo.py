"""VESPO: variational sequence-level soft policy optimisation (arXiv 2602.10693)."""

import torch
from torch import Tensor

from trainer_core.methods.losses.ratio import LOG_RATIO_BOUND, by_sign, drift
from trainer_core.methods.masked import masked_mean
from trainer_core.methods.ragged import sequence_sum
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.loss import VESPOLoss


def vespo(spec: VESPOLoss, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """``−sg(φ(W)) · A · log π`` with ``φ = W^k · exp(λ(1 − W))`` of the sequence's ratio W, shape [N].

    φ is 1 on-policy, and has its maximum, ``(k/λ)^k · exp(λ − k)``, at W = k/λ.
    """
    with torch.no_grad():
        positive = view.advantages >= 0
        power = by_sign(positive, spec.power_positive, spec.power_negative, view.advantages)
        rate = by_sign(positive, spec.rate_positive, spec.rate_negative, view.advantages)
        # In logarithms: W itself would overflow, and W^k · exp(−λW) be infinity times zero.
        log_ratio = sequence_sum(view.log_behaviour_ratio, view.sequence)
        log_weight = power * log_ratio - rate * log_ratio.clamp(max=LOG_RATIO_BOUND).expm1()
        weight = log_weight.exp()
        metrics = {"actor/gate_mean": masked_mean(weight, view.mask), **drift(view)}
    return -weight * view.advantages * view.logprobs, metrics

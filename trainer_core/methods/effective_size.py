"""Effective sample size of importance weights, and the step size that follows from it (VCPO, arXiv 2602.17616)."""

from typing import Literal

import torch
from torch import Tensor


def effective_share(log_weights: Tensor) -> float:
    """``(Σw)² / (B·Σw²)`` of raw weights given by their logarithms [B]: 1 if all are equal, 1/B if one has all the
    weight.

    1 if there are no weights. A NaN weight gives NaN.
    """
    if not len(log_weights):
        return 1.0
    logs = log_weights.double()
    difference = 2 * torch.logsumexp(logs, 0) - torch.logsumexp(2 * logs, 0)
    return float(difference.exp() / len(logs))


def rate_factor(rule: Literal["none", "sqrt", "linear"], share: float, base: float) -> float:
    """Factor of the step size: ``min(1, share / base)``, or its square root for optimizers like Adam."""
    if rule == "none":
        return 1.0
    ratio = min(1.0, share / base)
    return float(ratio**0.5) if rule == "sqrt" else ratio

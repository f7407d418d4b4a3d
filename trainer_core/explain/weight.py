"""The weight of a token in the gradient, by its ratio: each loss's own formula, without torch.

``tests/trainer_core/explain`` holds them against the gradients of the losses themselves.
"""

import math

from trainer_core.spec.methods.corrections import (
    IcePopMasking,
    MaskedImportanceSampling,
    TruncatedImportanceSampling,
)
from trainer_core.spec.methods.loss import (
    CISPOLoss,
    DecoupledPPOLoss,
    DPPOLoss,
    GSPOLoss,
    KLPenalisedLoss,
    MinPROLoss,
    PPOClipLoss,
    ReinforceLoss,
    SAPOLoss,
    SequenceMaskLoss,
    VESPOLoss,
)

PROBABILITY = 0.5
"""Probability of the token when it was sampled, for losses that ask for it."""


def weight(method: object, ratio: float, sign: int) -> float:
    """−∂L/∂log π_θ, divided by A, for a token at ``ratio`` with A = ``sign``; the other tokens are on policy.

    Raises:
        NotImplementedError: the method has no formula here.
    """
    match method:
        case ReinforceLoss():
            return 1.0
        case PPOClipLoss():
            capped = sign < 0 and method.ratio_dual is not None and ratio > method.ratio_dual
            return 0.0 if capped else _clipped(ratio, sign, method.ratio_min, method.ratio_max)
        case GSPOLoss() | DecoupledPPOLoss():
            return _clipped(ratio, sign, method.ratio_min, method.ratio_max)
        case CISPOLoss() | MinPROLoss():
            return min(max(ratio, method.ratio_min), method.ratio_max)
        case SAPOLoss():
            tau = method.temperature_positive if sign > 0 else method.temperature_negative
            gate = 1 / (1 + math.exp(-tau * (ratio - 1)))
            return 4 * gate * (1 - gate) * ratio
        case DPPOLoss():
            left = sign * (ratio - 1) > 0 and _divergence(method, ratio) > method.divergence_max
            return 0.0 if left else min(ratio, method.ratio_max)
        case VESPOLoss():
            k, rate = (
                (method.power_positive, method.rate_positive)
                if sign > 0
                else (method.power_negative, method.rate_negative)
            )
            return ratio**k * math.exp(rate * (1 - ratio))
        case SequenceMaskLoss():
            divergence = ratio - 1 - math.log(ratio)
            inside = method.ratio_min <= ratio <= method.ratio_max
            near = method.divergence_max is None or divergence <= method.divergence_max
            return ratio if inside and near else 0.0
        case KLPenalisedLoss():
            return ratio - method.coefficient * (ratio - 1) / sign
        case TruncatedImportanceSampling():
            return min(ratio, method.ratio_max)
        case MaskedImportanceSampling():
            return ratio if ratio <= method.ratio_max else 0.0
        case IcePopMasking():
            return ratio if method.ratio_min <= ratio <= method.ratio_max else 0.0
    raise NotImplementedError(f"{type(method).__name__} has no weight by ratio")


def _clipped(ratio: float, sign: int, lowest: float, highest: float) -> float:
    """PPO's clip: no gradient beyond the edge that A pushes towards."""
    return 0.0 if (ratio > highest if sign > 0 else ratio < lowest) else ratio


def _divergence(method: DPPOLoss, ratio: float) -> float:
    before, now = PROBABILITY, min(PROBABILITY * ratio, 1 - 1e-9)
    if method.divergence == "tv":
        return abs(now - before)
    return before * math.log(before / now) + (1 - before) * math.log((1 - before) / (1 - now))

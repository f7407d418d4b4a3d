"""Corrections: weights for tokens that another policy than the learner's has sampled."""

import torch
from torch import Tensor

from trainer_core.methods.corrections.icepop import icepop
from trainer_core.methods.corrections.masked_is import masked_is
from trainer_core.methods.corrections.opsm import opsm
from trainer_core.methods.corrections.truncated_is import truncated_is
from trainer_core.methods.masked import masked_mean
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.corrections import (
    Correction,
    IcePopMasking,
    MaskedImportanceSampling,
    OffPolicySequenceMasking,
    RouterShiftWeighting,
    TruncatedImportanceSampling,
)


def token_weights(spec: Correction, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """Weight of each token [N], without gradient and 1 outside the mask, with its metrics.

    Tokens of weight 0 go on counting where the loss is averaged: the others do not weigh more in their stead.
    """
    match spec:
        case TruncatedImportanceSampling():
            return truncated_is(spec, view)
        case MaskedImportanceSampling():
            return masked_is(spec, view)
        case IcePopMasking():
            return icepop(spec, view)
        case OffPolicySequenceMasking():
            return opsm(spec, view)
        case RouterShiftWeighting():
            # It rescales the ratio itself (``TokenView.log_ratio``), ahead of every clip: nothing is left to weigh.
            if view.log_shift is None:
                raise ValueError("router_shift needs the routing of the policy before and now")
            shift = masked_mean(view.log_shift.exp(), view.mask)
            return torch.ones_like(view.advantages), {"actor/router_shift": shift}

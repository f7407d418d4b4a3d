"""Corrections: weights for tokens that another policy than the learner's has sampled."""

from torch import Tensor

from trainer_core.methods.corrections.icepop import icepop
from trainer_core.methods.corrections.masked_is import masked_is
from trainer_core.methods.corrections.opsm import opsm
from trainer_core.methods.corrections.truncated_is import truncated_is
from trainer_core.methods.view import TokenView
from trainer_core.spec.corrections import (
    Correction,
    IcePopMasking,
    MaskedImportanceSampling,
    OffPolicySequenceMasking,
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

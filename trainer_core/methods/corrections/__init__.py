"""Corrections: weights for tokens sampled by a policy other than the learner's."""

from collections.abc import Callable
from typing import Any, get_args

from torch import Tensor

from trainer_core.methods.corrections.geometric_mask import geometric_mask
from trainer_core.methods.corrections.icepop import icepop
from trainer_core.methods.corrections.masked_is import masked_is
from trainer_core.methods.corrections.opsm import opsm
from trainer_core.methods.corrections.router_shift import router_shift
from trainer_core.methods.corrections.truncated_is import truncated_is
from trainer_core.methods.table import Table
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.corrections import (
    Correction,
    GeometricSequenceMask,
    IcePopMasking,
    MaskedImportanceSampling,
    OffPolicySequenceMasking,
    RouterShiftWeighting,
    TruncatedImportanceSampling,
)

FORMULAS: Table[Callable[[Any, TokenView], tuple[Tensor, dict[str, Tensor]]]] = Table(
    "correction",
    get_args(get_args(Correction)[0]),
    {
        TruncatedImportanceSampling: truncated_is,
        MaskedImportanceSampling: masked_is,
        IcePopMasking: icepop,
        OffPolicySequenceMasking: opsm,
        GeometricSequenceMask: geometric_mask,
        RouterShiftWeighting: router_shift,
    },
)
"""``(spec, view) -> (weight of each token [N], metrics)``, without gradient and 1 outside the mask."""


def token_weights(spec: Correction, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """Weight of each token [N], without gradient and 1 outside the mask, with its metrics.

    Tokens of weight 0 still count in the average of the loss, so the others do not gain weight.
    """
    return FORMULAS.of(spec)(spec, view)

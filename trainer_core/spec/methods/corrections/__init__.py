"""Corrections for tokens that another policy than the learner's has sampled: engine mismatch and staleness."""

from typing import Annotated

from pydantic import Field

from trainer_core.spec.methods.corrections.geometric_mask import GeometricSequenceMask
from trainer_core.spec.methods.corrections.icepop import IcePopMasking
from trainer_core.spec.methods.corrections.level import Level
from trainer_core.spec.methods.corrections.masked_is import MaskedImportanceSampling
from trainer_core.spec.methods.corrections.opsm import OffPolicySequenceMasking
from trainer_core.spec.methods.corrections.router_shift import RouterShiftWeighting
from trainer_core.spec.methods.corrections.truncated_is import TruncatedImportanceSampling

__all__ = [
    "Correction",
    "GeometricSequenceMask",
    "IcePopMasking",
    "Level",
    "MaskedImportanceSampling",
    "OffPolicySequenceMasking",
    "RouterShiftWeighting",
    "TruncatedImportanceSampling",
]

Correction = Annotated[
    TruncatedImportanceSampling
    | MaskedImportanceSampling
    | IcePopMasking
    | OffPolicySequenceMasking
    | GeometricSequenceMask
    | RouterShiftWeighting,
    Field(discriminator="type"),
]

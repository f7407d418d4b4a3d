"""The run spec: one pydantic document that describes a run. Imports without torch, so the web tier shares it."""

from trainer_core.spec.controls import Change, ControlError, Target, apply_control, apply_controls, targets, valid_order
from trainer_core.spec.run import RunSpec

__all__ = [
    "Change",
    "ControlError",
    "RunSpec",
    "Target",
    "apply_control",
    "apply_controls",
    "targets",
    "valid_order",
]

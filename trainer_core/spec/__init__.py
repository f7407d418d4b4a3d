"""The run spec: one pydantic document that describes a run. Imports without torch, so the web tier shares it."""

from trainer_core.spec.controls import ControlError, Target, apply_control, targets
from trainer_core.spec.run import RunSpec

__all__ = ["ControlError", "RunSpec", "Target", "apply_control", "targets"]

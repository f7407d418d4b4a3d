"""The run spec: one pydantic document that describes a run. Imports without torch, so the web tier shares it.

Its names are loaded when they are asked for: the package of a plug-in may be imported first, and what it imports of us
(``trainer_core.authoring``) must not load the spec, which would look for the plug-in's classes before they are there.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trainer_core.spec.controls import (
        Change,
        ControlError,
        Target,
        apply_control,
        apply_controls,
        targets,
        valid_order,
    )
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


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("trainer_core.spec.run" if name == "RunSpec" else "trainer_core.spec.controls"), name)

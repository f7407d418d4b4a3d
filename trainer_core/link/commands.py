"""Commands: what the platform wants of a worker, and what the worker reports of it.

The platform names every open command with each sync until it has heard what became of it.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from trainer_core.link.base import Count, Message
from trainer_core.spec.base import Boundary

DesiredState = Literal["running", "paused", "cancelled"]
"""State that users want of a run."""
AppliedState = Literal["applied", "settled", "rejected"]
"""State that a worker reports of a control."""


class Ramp(Message):
    """How a control takes a number to its new value step by step; see ``trainer_core.spec.ramps``."""

    before: int | float
    """Value that it begins from."""
    steps: int
    """Steps after which it has the new value; the first is the step at which the control takes effect."""


class RampUnderWay(Ramp):
    """A ramp that the attempt goes on with."""

    control_id: str
    revision: int
    target: str
    value: int | float
    boundary: Boundary
    """Boundary at which it moves."""
    first_step: Count
    """Step at which it took effect."""


class ControlCommand(Message):
    """A steerable field of the spec shall change."""

    type: Literal["control"]
    id: str
    revision: int
    """Controls of one field apply in this order."""
    target: str
    """Path of the field, such as ``rollout.temperature``."""
    value: Any
    apply_at: int | Literal["next"]
    """Step from which it counts."""
    change_set: str | None = None
    """Controls of one set take effect together or not at all, at the latest of their boundaries: only the spec with all
    of them has been found valid. None for one that stands alone."""
    ramp: Ramp | None = None
    """None: the new value counts at once."""
    definitions: dict[str, dict[str, Any]] = {}
    """Documents of ``reward.RewardVersion`` by reference, for a control that names versions. Each is read apart: one
    that the worker cannot use must not hide the others."""


class CheckpointCommand(Message):
    """A checkpoint shall be written now."""

    type: Literal["checkpoint"]
    id: str


Command = ControlCommand | CheckpointCommand
_COMMAND: TypeAdapter[Command] = TypeAdapter(Annotated[Command, Field(discriminator="type")])


def read_command(document: Any) -> Command:
    """Read one command. Raises ValidationError, which names the type where it is not known."""
    return _COMMAND.validate_python(document)


class Applied(Message):
    """Report of what became of a control. Repeated until a sync has succeeded."""

    control_id: str
    state: AppliedState
    step: Count | None = None
    group: Annotated[str, Field(max_length=80)] | None = None
    """The first prompt group that was dispatched under it."""
    policy_version: Count | None = None
    error: str | None = None
    """Reason of the rejection."""

"""A sync: events and reports up, commands down, the lease renewed."""

from typing import Annotated, Any

from pydantic import Field

from trainer_core.link.base import Count, Message
from trainer_core.link.commands import Applied, DesiredState
from trainer_core.link.events import LinkEvent
from trainer_core.link.limits import MAX_APPLIED, MAX_EVENTS


class SyncRequest(Message):
    """Body of a worker's sync, sent twice a second and more often while it has something to tell; less often where the
    platform asks for it."""

    attempt: Count
    events: Annotated[tuple[LinkEvent, ...], Field(max_length=MAX_EVENTS)] = ()
    applied: Annotated[tuple[Applied, ...], Field(max_length=MAX_APPLIED)] = ()
    releasing: bool = False
    """Whether the worker has read that it shall give its place back, and will once it can. Workers from before never
    say so."""
    lost: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    """Reason why the attempt ends although the run has not: half a sentence. Sent with the last events. Workers from
    before never say so: their lease expires."""
    gpus: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """GPUs that the attempt holds now. Workers from before told what they had reserved, once they knew, or nothing."""


class SyncAnswer(Message):
    """Answer of the platform."""

    acked_seq: Annotated[int, Field(ge=0)]
    """The newest event that is stored; the worker forgets it and those before."""
    commands: tuple[dict[str, Any], ...]
    """Documents of ``commands.Command``. Each is read apart: one of an unknown type must not hide the others."""
    desired_state: DesiredState
    release_place: bool = False
    """Whether a run that stands paused shall write a checkpoint and end, so that others get its place. It goes on later
    from there, as a new attempt."""
    lease_s: float = 15.0
    """Seconds without a sync after which the platform believes the attempt dead."""
    pace_s: Annotated[float, Field(ge=0)] = 0.0
    """Shortest time between two syncs, where the platform hears from so many runs that it must ask for it."""

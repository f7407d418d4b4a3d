"""Appends events. The caller holds the lock on the run's row, so sequence numbers have no gaps and no duplicates."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Protocol

from django.utils import timezone

from dressage.telemetry.models import Event
from dressage.telemetry.wakeup import wake_on_commit


class EventSource(Protocol):
    """Fields that are needed of a run's row, which the caller has locked."""

    event_seq: int
    """Number of the newest event."""

    @property
    def id(self) -> str: ...

    @property
    def team_id(self) -> str: ...

    @property
    def attempt(self) -> int: ...

    def save(self, *, update_fields: Iterable[str]) -> None: ...


def append_event(
    run: EventSource,
    kind: str,
    data: dict[str, Any],
    *,
    step: int | None = None,
    attempt: int | None = None,
    at: datetime | None = None,
) -> Event:
    """Write one event under the next number and wake the streams on commit.

    Args:
        run: locked by the caller; its ``event_seq`` is incremented, here and in the database.
        kind: ``state``, ``control``, ``alert`` and so on.
        data: JSON-able.
        step: training step, if any.
        attempt: by default the run's current one.
        at: when it happened; by default now.
    """
    run.event_seq += 1
    event = Event.objects.create(
        run_id=run.id,
        seq=run.event_seq,
        attempt=run.attempt if attempt is None else attempt,
        kind=kind,
        step=step,
        at=at or timezone.now(),
        data=data,
    )
    run.save(update_fields=["event_seq", "updated_at"])
    wake_on_commit(run.id, run.team_id)
    return event

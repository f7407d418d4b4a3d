"""Appends events. The caller holds the lock on the run's row, so sequence numbers have no gaps and no doubles."""

from datetime import datetime
from typing import Any

from django.utils import timezone

from dressage.runs.models import Run
from dressage.telemetry.models import Event
from dressage.telemetry.stream.doorbell import ring_on_commit


def append_event(
    run: Run,
    kind: str,
    data: dict[str, Any],
    *,
    step: int | None = None,
    attempt: int | None = None,
    at: datetime | None = None,
) -> Event:
    """Write one event under the next number and ring the doorbell on commit.

    Args:
        run: locked by the caller; its ``event_seq`` moves on, here and in the database.
        kind: ``state``, ``control``, ``alert`` and so on.
        data: JSON-able.
        step: training step, where there is one.
        attempt: by default the run's present one.
        at: when it happened; by default now.
    """
    run.event_seq += 1
    event = Event.objects.create(
        run=run,
        seq=run.event_seq,
        attempt=run.attempt if attempt is None else attempt,
        kind=kind,
        step=step,
        at=at or timezone.now(),
        data=data,
    )
    run.save(update_fields=["event_seq", "updated_at"])
    ring_on_commit(run.id, run.team_id)
    return event

"""Writes of imports by the workers that carry them out, whatever they fetch."""

from datetime import timedelta
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from dressage.imports.models import CANCELLED, DOWNLOADING, FAILED, QUEUED, READY, Import

Row = TypeVar("Row", bound=Import)

SILENT_S = 15
"""Seconds after which a worker that has not written is believed dead."""
MAX_ACTIVE = 2
"""Imports of a kind that are worked on at once in the installation; the others wait for their turn."""


@transaction.atomic
def claim(model: type[Row], import_id: str) -> Row | None:
    """Take an import for the calling worker; None when it is over, another has it, or it is not its turn."""
    rows: Any = model.objects
    row: Row | None = rows.select_for_update(of=("self",)).select_related("team").filter(pk=import_id).first()
    if row is None or row.state not in model.open_states():
        return None
    fresh = Q(state__in=model.active_states, heard_at__gte=Now() - timedelta(seconds=SILENT_S))
    if row.state in model.active_states and model.objects.filter(fresh, pk=row.pk).exists():
        return None
    if model.objects.filter(fresh).exclude(pk=row.pk).count() >= MAX_ACTIVE:
        return None
    row.state, row.attempt, row.error = DOWNLOADING, row.attempt + 1, ""
    row.started_at = row.started_at or timezone.now()
    row.save(update_fields=["state", "attempt", "error", "started_at"])
    model.objects.filter(pk=row.pk).update(heard_at=Now())
    return row


def report(row: Import, **fields: Any) -> bool:
    """Write what the worker of this attempt has done. False: the import was ended, or is another worker's."""
    return _mine(row).update(heard_at=Now(), **fields) == 1


def give_back(row: Import, reason: str = "", *, faults: int = 0) -> None:
    """Queue an import again whose worker ends, or whose network has failed; the sweep asks a worker soon."""
    _mine(row).update(state=QUEUED, error=reason, rung_at=Now(), faults=faults)


def fail(row: Import, reason: str, **fields: Any) -> None:
    """End an import with a sentence, and with ``fields`` of its kind, unless it is another worker's or over."""
    _end_own(row, FAILED, reason, **fields)


def finish(row: Import, **fields: Any) -> bool:
    """Mark an import as ready, in the transaction that stores what has come. False as for ``report``."""
    return _end_own(row, READY, "", **fields)


def end(row: Import, state: str, reason: str, **fields: Any) -> None:
    """Write the end of an import whose row the caller has locked."""
    fields |= {"state": state, "error": reason[:2000], "finished_at": timezone.now()}
    for name, value in fields.items():
        setattr(row, name, value)
    row.save(update_fields=list(fields))


def is_cancelled(row: Import) -> bool:
    """Whether a person has ended it meanwhile."""
    return type(row).objects.filter(pk=row.pk, state=CANCELLED).exists()


def begin_again(row: Import) -> None:
    """Have a locked import tried again. Its size counts among the team's when its files are listed, as a new one's."""
    row.state, row.error, row.finished_at, row.faults, row.bytes_total = QUEUED, "", None, 0, 0
    row.save(update_fields=["state", "error", "finished_at", "faults", "bytes_total"])


@transaction.atomic
def _end_own(row: Import, state: str, reason: str, **fields: Any) -> bool:
    locked = type(row).objects.select_for_update().get(pk=row.pk)
    if locked.attempt != row.attempt or locked.state not in locked.active_states:
        return False
    end(locked, state, reason, **fields)
    return True


def _mine(row: Import) -> Any:
    return type(row).objects.filter(pk=row.pk, attempt=row.attempt, state__in=row.active_states)

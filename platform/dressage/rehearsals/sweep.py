"""Looks after rehearsals every two seconds: gives places, enqueues again, gives up, forgets. Idempotent; several may
run."""

from collections.abc import Callable
from datetime import timedelta

import structlog
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from dressage.rehearsals.enqueue import enqueue_rehearsal
from dressage.rehearsals.models import OPEN, Rehearsal, RehearsalState
from dressage.rehearsals.places import give_places
from dressage.rehearsals.services import LIMIT_S, fail

logger = structlog.get_logger(__name__)

ENQUEUE_AGAIN_S = 10
"""A rehearsal that no worker has taken for this long is enqueued again."""
FIRST_TAKE_LIMIT_S = 300
"""A rehearsal that has its place and that no worker has taken in this time has failed."""
SPARE_S = 60
"""Time beyond its limit after which a rehearsal has failed, whatever its worker says."""
MAX_TRIES = 2
"""Workers that may be lost before a rehearsal has failed."""
KEPT_DAYS = 7
"""Days for which rehearsals are kept."""


def sweep_rehearsals() -> None:
    """One round."""
    _each(_lost(), _after_loss)
    untaken = f"No worker of the cluster has taken the rehearsal within {FIRST_TAKE_LIMIT_S // 60} minutes: is it up?"
    _each(_untaken(), lambda rehearsal: fail(rehearsal, untaken))
    endless = f"The rehearsal was not done within {LIMIT_S / 60:g} minutes. Take fewer prompts or shorter answers."
    _each(_endless(), lambda rehearsal: fail(rehearsal, endless))
    _each(_silent(), enqueue_rehearsal)
    give_places()
    Rehearsal.objects.filter(created_at__lt=Now() - timedelta(days=KEPT_DAYS)).delete()


def _each(found: QuerySet[Rehearsal], act: Callable[[Rehearsal], object]) -> None:
    """Apply ``act`` to each rehearsal that still matches once it is locked; a failure does not stop the rest."""
    for rehearsal_id in list(found.values_list("id", flat=True)):
        try:
            with transaction.atomic():
                rehearsal = found.select_for_update().filter(pk=rehearsal_id).defer("spec", "report").first()
                if rehearsal is not None:
                    act(rehearsal)
        except Exception:
            logger.exception("rehearsal sweep failed", rehearsal=rehearsal_id)


def _lost() -> QuerySet[Rehearsal]:
    return Rehearsal.objects.filter(state=RehearsalState.RUNNING, lease_expires_at__lt=Now())


def _untaken() -> QuerySet[Rehearsal]:
    since = Now() - timedelta(seconds=FIRST_TAKE_LIMIT_S)
    return Rehearsal.objects.filter(state=RehearsalState.QUEUED, tries=0, placed_at__lt=since)


def _endless() -> QuerySet[Rehearsal]:
    """A worker that hangs may go on asking: its lease alone does not tell."""
    return Rehearsal.objects.filter(state__in=OPEN, started_at__lt=Now() - timedelta(seconds=LIMIT_S + SPARE_S))


def _silent() -> QuerySet[Rehearsal]:
    enqueued = Now() - timedelta(seconds=ENQUEUE_AGAIN_S)
    waits = Q(rung_at__lt=enqueued) | Q(rung_at=None)
    return Rehearsal.objects.filter(waits, state=RehearsalState.QUEUED, placed_at__isnull=False)


def _after_loss(rehearsal: Rehearsal) -> None:
    if rehearsal.tries >= MAX_TRIES:
        detail = (
            f"{rehearsal.tries} workers were lost while they held it: the cluster may lack the memory for its engine."
        )
        fail(rehearsal, detail)
        return
    rehearsal.state, rehearsal.lease_expires_at, rehearsal.progress = RehearsalState.QUEUED, None, None
    rehearsal.save(update_fields=["state", "lease_expires_at", "progress"])
    enqueue_rehearsal(rehearsal)

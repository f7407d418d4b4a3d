"""Steps of sweeps over jobs whose message or worker was lost. Each is idempotent; several may run at once."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import structlog
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from dressage.jobs.models import OPEN, J, JobState, jobs_of
from dressage.jobs.services import fail, queue_again

logger = structlog.get_logger(__name__)

ENQUEUE_AGAIN_S = 10
"""Seconds after which a job that no worker has taken is enqueued again."""


def ago(seconds: float) -> Any:
    """A time of the database's clock, for queries."""
    return Now() - timedelta(seconds=seconds)


def for_each(found: QuerySet[J], act: Callable[[J], object]) -> None:
    """Apply ``act`` to each job that still matches once it is locked; a failure does not stop the rest."""
    for job_id in list(found.values_list("id", flat=True)):
        try:
            with transaction.atomic():
                job = found.select_for_update().filter(pk=job_id).defer(*found.model.large).first()
                if job is not None:
                    act(job)
        except Exception:
            logger.exception("a job could not be swept", kind=found.model.__name__, job=job_id)


def lost(model: type[J]) -> QuerySet[J]:
    """Jobs whose worker has not asked again in time."""
    return jobs_of(model).filter(state=JobState.RUNNING, lease_expires_at__lt=Now())


def untaken(model: type[J]) -> QuerySet[J]:
    """Jobs that no worker has taken yet."""
    return jobs_of(model).filter(state=JobState.QUEUED, tries=0)


def endless(model: type[J], limit_s: float) -> QuerySet[J]:
    """Jobs that take too long, from their first worker on. One that hangs may go on asking: a lease does not tell."""
    return jobs_of(model).filter(state__in=OPEN, started_at__lt=ago(limit_s))


def unanswered(model: type[J]) -> QuerySet[J]:
    """Jobs that wait for a worker although the cluster was asked a while ago, or was not asked yet."""
    return jobs_of(model).filter(Q(rung_at__lt=ago(ENQUEUE_AGAIN_S)) | Q(rung_at=None), state=JobState.QUEUED)


def replace_worker(job: J, max_tries: int, loss: str, send: Callable[[J], object]) -> None:
    """Ask for another worker by ``send``, or fail a job that has lost ``max_tries``.

    ``loss`` says what they were lost over.
    """
    if job.tries >= max_tries:
        fail(job, f"{job.tries} workers were lost while they {loss}")
        return
    queue_again(job)
    send(job)

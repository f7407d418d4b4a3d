"""Sweep over cluster jobs, every two seconds. Each step is safe to repeat; several sweeps may run in parallel."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import structlog
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from dressage.cluster_jobs.clusters import cluster_words, send
from dressage.cluster_jobs.kinds import ClusterKind
from dressage.cluster_jobs.life import fail, queue_again
from dressage.cluster_jobs.models import OPEN, ClusterJob, J, PlacedJob, jobs_of
from dressage.cluster_jobs.places import give_places, send_again
from dressage.jobs.models import JobState

logger = structlog.get_logger(__name__)

NOTIFY_AGAIN_S = 10
"""Seconds after which the cluster is notified again of a job that no worker has claimed."""


def sweep(kind: ClusterKind[Any]) -> None:
    """One round over the jobs of a kind."""
    model = kind.model
    kind.sweep()
    for_each(expired(model), partial(_replace_worker, kind))
    for_each(unclaimed(model, kind.claim_limit_s), partial(_fail_unclaimed, kind))
    if kind.limit_s is not None:
        for_each(overdue(model, kind.limit_s), lambda job: kind.give_up(job, "time", kind.too_late))
    for_each(unnotified(model), _notify)
    if issubclass(model, PlacedJob):
        give_places(model)


def ago(seconds: float) -> Any:
    """A time in the past by the database's clock, for queries."""
    return Now() - timedelta(seconds=seconds)


def for_each(found: QuerySet[J], act: Callable[[J], object]) -> None:
    """Apply ``act`` to each job that still matches once it is locked. A failure does not stop the rest."""
    for job_id in list(found.values_list("id", flat=True)):
        try:
            with transaction.atomic():
                job = found.select_for_update().filter(pk=job_id).defer(*found.model.large).first()
                if job is not None:
                    act(job)
        except Exception:
            logger.exception("a job could not be swept", kind=found.model.__name__, job=job_id)


def expired(model: type[J]) -> QuerySet[J]:
    """Jobs whose worker has not renewed its lease."""
    return jobs_of(model).filter(state=JobState.RUNNING, lease_expires_at__lt=Now())


def unclaimed(model: type[J], limit_s: float) -> QuerySet[J]:
    """Jobs that no worker has claimed in time, counted from their creation or from when they were given their slot."""
    since = "placed_at" if issubclass(model, PlacedJob) else "created_at"
    return jobs_of(model).filter(state=JobState.QUEUED, tries=0, **{f"{since}__lt": ago(limit_s)})


def overdue(model: type[J], limit_s: float) -> QuerySet[J]:
    """Jobs that take too long, counted from their first worker. A worker that hangs may still renew its lease."""
    return jobs_of(model).filter(state__in=OPEN, started_at__lt=ago(limit_s))


def unnotified(model: type[J]) -> QuerySet[J]:
    """Queued jobs of which the cluster was not recently notified. If their kind needs slots, they have one."""
    found = jobs_of(model).filter(Q(rung_at__lt=ago(NOTIFY_AGAIN_S)) | Q(rung_at=None), state=JobState.QUEUED)
    return found.filter(placed_at__isnull=False) if issubclass(model, PlacedJob) else found


def _notify(job: ClusterJob) -> None:
    if isinstance(job, PlacedJob):
        send_again(job)
    else:
        send(job)


def _replace_worker(kind: ClusterKind[Any], job: ClusterJob) -> None:
    """Queue a job again for another worker, or give it up after too many lost workers."""
    if job.tries >= kind.max_tries:
        kind.give_up(job, "lost", f"{job.tries} workers were lost while they {kind.lost_while}")
        return
    queue_again(job)
    _notify(job)


def _fail_unclaimed(kind: ClusterKind[Any], job: ClusterJob) -> None:
    worker = f"worker of {cluster_words(job.placed_on)}"
    fail(job, f"No {worker} has taken {kind.claimed} within {kind.claim_limit_s / 60:g} minutes: is it running?")

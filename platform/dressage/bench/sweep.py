"""Looks after bench jobs every two seconds: enqueues again, gives up, forgets old ones. Idempotent; several may run."""

from collections.abc import Callable
from datetime import timedelta

import structlog
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from dressage.bench.enqueue import enqueue_bench
from dressage.bench.services import fail
from dressage.rewards.models import BenchJob
from dressage.rewards.models.bench import OPEN, BenchState

logger = structlog.get_logger(__name__)

ENQUEUE_AGAIN_S = 10
"""A job that no worker has taken for this long is enqueued again."""
FIRST_TAKE_LIMIT_S = 600
"""A job that no worker has taken in this time has failed."""
MAX_S = 3600
"""A job that takes longer, from its first worker on, has failed."""
MAX_TRIES = 3
"""Workers that may be lost before a job has failed."""
KEPT_DAYS, HIDDEN_KEPT_DAYS = 30, 1
"""Days for which jobs are kept: those that are listed, and hidden ones."""


def sweep_bench() -> None:
    """One round."""
    _each(_lost(), _after_loss)
    _each(_untaken(), lambda job: fail(job, "No worker of the cluster has taken the job within ten minutes."))
    _each(_endless(), lambda job: fail(job, "The job was not done within an hour."))
    _each(_silent(), enqueue_bench)
    old = Q(created_at__lt=Now() - timedelta(days=KEPT_DAYS))
    old |= Q(created_at__lt=Now() - timedelta(days=HIDDEN_KEPT_DAYS), hidden=True)
    BenchJob.objects.filter(old).delete()


def _each(found: QuerySet[BenchJob], act: Callable[[BenchJob], object]) -> None:
    """Apply ``act`` to each job that still matches once it is locked; a failure does not stop the rest."""
    for job_id in list(found.values_list("id", flat=True)):
        try:
            with transaction.atomic():
                job = found.select_for_update().filter(pk=job_id).defer("samples", "results").first()
                if job is not None:
                    act(job)
        except Exception:
            logger.exception("bench sweep failed", job=job_id)


def _lost() -> QuerySet[BenchJob]:
    return BenchJob.objects.filter(state=BenchState.RUNNING, lease_expires_at__lt=Now())


def _untaken() -> QuerySet[BenchJob]:
    since = Now() - timedelta(seconds=FIRST_TAKE_LIMIT_S)
    return BenchJob.objects.filter(state=BenchState.QUEUED, tries=0, created_at__lt=since)


def _endless() -> QuerySet[BenchJob]:
    """A worker that hangs may go on asking: its lease alone does not tell."""
    return BenchJob.objects.filter(state__in=OPEN, started_at__lt=Now() - timedelta(seconds=MAX_S))


def _silent() -> QuerySet[BenchJob]:
    enqueued = Now() - timedelta(seconds=ENQUEUE_AGAIN_S)
    return BenchJob.objects.filter(Q(rung_at__lt=enqueued) | Q(rung_at=None), state=BenchState.QUEUED)


def _after_loss(job: BenchJob) -> None:
    if job.tries >= MAX_TRIES:
        fail(job, f"{job.tries} workers were lost while they scored it.")
        return
    job.state, job.lease_expires_at = BenchState.QUEUED, None
    job.save(update_fields=["state", "lease_expires_at"])
    enqueue_bench(job)

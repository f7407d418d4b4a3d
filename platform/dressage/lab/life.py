"""Writes of jobs by the worker that carries one out."""

import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from dressage.lab.asking.outcomes import PATTERN
from dressage.lab.models import ASKING, AT_WORK, LabJob, LabState

SILENT_S = 15
"""Seconds after which a worker that has not written is believed dead."""
MAX_RUNNING = 1
"""Jobs that are worked on at once in the installation: each keeps a core busy."""
MAX_ASKING = 2
"""Jobs beside those that ask a model at once: each keeps a thread of a worker waiting."""
MAX_LOST = 3
"""Workers that may be lost one after the other, without having kept anything new, before a job has failed."""
_LOCK = 0x6C61_626A_6F62_7300
"""Advisory lock under which running jobs are counted and claimed."""
_LOST = (
    f"{MAX_LOST} workers of the platform were lost at this job, most likely for want of memory. Work on fewer rows, or "
    "have the operator give the platform's worker more memory."
)


def folder_of(job: LabJob) -> Path:
    """Folder of what a job has done so far; it is there until the job is over."""
    return settings.DATASET_ROOT / "lab" / job.id


@transaction.atomic
def claim(job_id: str) -> LabJob | None:
    """Take a job for the calling worker; None when it is over, another has it, or it is not its turn.

    One whose workers were lost again and again fails: it would take the next with it, and all that this one does.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
    jobs = LabJob.objects.select_for_update(of=("self",)).select_related("team", "version__dataset")
    job = jobs.filter(pk=job_id).first()
    if job is None or job.state not in AT_WORK:
        return None
    fresh = Q(state=LabState.RUNNING, heard_at__gte=Now() - timedelta(seconds=SILENT_S))
    if job.state == LabState.RUNNING and LabJob.objects.filter(fresh, pk=job.pk).exists():
        return None
    if alike(job.kind, LabJob.objects.filter(fresh)).exclude(pk=job.pk).count() >= most_at_once(job.kind):
        return None
    if job.state == LabState.RUNNING and _has_lost_too_many(job):
        end(job, LabState.FAILED, _LOST)
        return None
    job.state, job.attempt, job.started_at = LabState.RUNNING, job.attempt + 1, job.started_at or timezone.now()
    job.save(update_fields=["state", "attempt", "started_at", "lost_workers", "kept_files"])
    LabJob.objects.filter(pk=job.pk).update(heard_at=Now())
    return job


def alike(kind: str, jobs: QuerySet[LabJob]) -> QuerySet[LabJob]:
    """Those of the jobs that wait for the same places as one of this kind."""
    return jobs.filter(kind__in=ASKING) if kind in ASKING else jobs.exclude(kind__in=ASKING)


def most_at_once(kind: str) -> int:
    """Places for jobs like one of this kind."""
    return MAX_ASKING if kind in ASKING else MAX_RUNNING


def _has_lost_too_many(job: LabJob) -> bool:
    """Count the worker that has fallen silent: whether it was one too many."""
    folder = folder_of(job)
    kept = sum(1 for pattern in ("*.npz", PATTERN) for _ in folder.glob(pattern)) if folder.is_dir() else 0
    job.lost_workers = 1 if kept > job.kept_files else job.lost_workers + 1
    job.kept_files = kept
    return job.lost_workers >= MAX_LOST


def report_progress(job: LabJob, **fields: Any) -> bool:
    """Write how far the worker of this attempt has come. False: the job was ended, or is another worker's."""
    mine = LabJob.objects.filter(pk=job.pk, attempt=job.attempt, state=LabState.RUNNING)
    return mine.update(heard_at=Now(), **fields) == 1


def give_back(job: LabJob) -> None:
    """Queue a job again whose worker ends; the sweep asks another soon."""
    mine = LabJob.objects.filter(pk=job.pk, attempt=job.attempt, state=LabState.RUNNING)
    mine.update(state=LabState.QUEUED, rung_at=Now())


@transaction.atomic
def park(job: LabJob, reason: str) -> None:
    """Have a job wait for a person, unless it is another worker's or over; its folder keeps what it has done."""
    locked = LabJob.objects.select_for_update().get(pk=job.pk)
    if locked.attempt == job.attempt and locked.state == LabState.RUNNING:
        locked.state, locked.error, locked.stage = LabState.WAITING, reason[:2000], ""
        locked.save(update_fields=["state", "error", "stage"])


@transaction.atomic
def fail(job: LabJob, reason: str) -> None:
    """End a job with a sentence, unless it is another worker's or over."""
    locked = LabJob.objects.select_for_update().get(pk=job.pk)
    if locked.attempt == job.attempt and locked.state == LabState.RUNNING:
        end(locked, LabState.FAILED, reason)


def end(job: LabJob, state: LabState, reason: str = "", **fields: Any) -> None:
    """End a job whose row the caller has locked; what it kept on disk is removed once that is stored."""
    job.state, job.error, job.finished_at, job.stage = state, reason[:2000], timezone.now(), ""
    for name, value in fields.items():
        setattr(job, name, value)
    job.save(update_fields=["state", "error", "finished_at", "stage", *fields])
    folder = folder_of(job)
    transaction.on_commit(lambda: shutil.rmtree(folder, ignore_errors=True))

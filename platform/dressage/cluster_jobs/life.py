"""Writes of a job's life cycle: creation, the worker's lease, the end. Each kind of job stores its own results."""

import base64
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.crypto import salted_hmac

from dressage.cluster_jobs.models import OPEN, ClusterJob, J, PlacedJob, jobs_of
from dressage.common.actors import Actor
from dressage.common.api.problems import conflict
from dressage.common.ids import new_id
from dressage.common.secrets import secret_hash
from dressage.jobs import room
from dressage.jobs.models import JobState
from dressage.teams.models import Team
from trainer_core.link.base import Message


def job_token(model: type[ClusterJob], job_id: str) -> str:
    """The secret of one job: an HMAC of its id under the installation's secret key (256 bits).

    It is derived, so a cluster can be notified again although only a hash is stored.
    """
    digest = salted_hmac(model.token_salt, job_id, algorithm="sha256").digest()
    return model.token_prefix + base64.urlsafe_b64encode(digest).decode().rstrip("=")


def require_room(model: type[ClusterJob], team: Team, most: int, *, code: str, retry_after_s: int) -> None:
    """Require that fewer than ``most`` jobs of the kind are open. Blocks new ones until the transaction ends.

    Raises:
        Problem: 429 with ``code`` and a time to try again.
    """
    found = model.objects.for_team(team).filter(state__in=OPEN)
    room.require_room(found, team, most, plural=model.plural, code=code, retry_s=retry_after_s)


def create_job(model: type[J], team: Team, actor: Actor, **columns: Any) -> J:
    """A new queued job with its token. The cluster is not notified yet. ``columns`` are specific to its kind."""
    job_id = new_id(model.id_prefix)
    digest = secret_hash(job_token(model, job_id))
    return jobs_of(model).create(id=job_id, team=team, token_sha256=digest, created_by=actor.label, **columns)


def require_open(job: ClusterJob) -> None:
    """Require that a result is still expected. Raises a 409 problem: the token no longer gives access."""
    if job.state not in OPEN:
        raise conflict(f"The {job.noun} is {job.state}.", code=f"{job.noun}_is_over")


@transaction.atomic
def claim(model: type[J], job_id: str, progress: Message | None = None) -> J:
    """Begin or renew the lease of the worker that has claimed a job. Raises a 409 problem if the job is over."""
    job = locked(model, job_id)
    require_open(job)
    if job.state == JobState.QUEUED:
        job.tries += 1
    job.state, job.started_at = JobState.RUNNING, job.started_at or timezone.now()
    changed = ["state", "tries", "started_at"]
    if isinstance(job, PlacedJob):  # its slot may have been taken back while a worker was on its way to it
        job.placed_at = job.placed_at or timezone.now()
        changed.append("placed_at")
    if progress is not None:
        job.progress = progress.model_dump(mode="json")  # type: ignore[attr-defined]
        changed.append("progress")
    job.save(update_fields=changed)
    model.objects.filter(pk=job_id).update(lease_expires_at=Now() + timedelta(seconds=model.lease_s))
    return job


@transaction.atomic
def fail_open(model: type[ClusterJob], job_id: str, reason: str) -> None:
    """Fail a job that no worker can do, unless it is already over."""
    job = locked(model, job_id)
    if job.state in OPEN:
        fail(job, reason)


def cancel(job: J) -> bool:
    """Cancel a job whose row the caller has locked; its worker stops by itself. False: it was already cancelled.

    Raises:
        Problem: 409 if it is over.
    """
    if job.state == JobState.CANCELLED:
        return False
    require_open(job)
    end(job, JobState.CANCELLED)
    return True


def fail(job: J, reason: str) -> J:
    """End a job without a result."""
    return end(job, JobState.FAILED, reason[:2000])


def end(job: J, state: str, error: str | None = None) -> J:
    """End a job in ``state``. Its large columns are not written."""
    job.state, job.error, job.finished_at = state, error, timezone.now()
    job.save(update_fields=["state", "error", "finished_at", *_without_worker(job)])
    return job


def queue_again(job: ClusterJob) -> None:
    """Let a job wait for another worker."""
    job.state = JobState.QUEUED
    job.save(update_fields=["state", *_without_worker(job)])


def locked(model: type[J], job_id: str) -> J:
    """The job, with its row locked, without its large columns."""
    return jobs_of(model).select_for_update().defer(*model.large).get(pk=job_id)


def _without_worker(job: ClusterJob) -> tuple[str, ...]:
    """Clear the columns that only have a meaning while a worker has the job. Returns their names."""
    for column in job.while_running:
        setattr(job, column, None)
    return job.while_running

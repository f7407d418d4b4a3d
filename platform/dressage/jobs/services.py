"""Writes of a job's life: its making, its worker's lease, its end. What a kind of job finds out, it stores itself."""

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from dressage.common.actors import Actor
from dressage.common.ids import new_id
from dressage.common.problems import conflict
from dressage.common.secrets import secret_hash
from dressage.jobs.models import OPEN, ClusterJob, J, JobState, jobs_of
from dressage.jobs.tokens import job_token
from dressage.teams.models import Team


def count_open(model: type[ClusterJob], team: Team) -> int:
    """Number of the team's jobs whose result is awaited. Until the transaction ends, none is made beside the caller."""
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    return model.objects.for_team(team).filter(state__in=OPEN).count()


def create_job(model: type[J], team: Team, actor: Actor, **columns: Any) -> J:
    """A new job that waits, with its token; the cluster is not told yet. ``columns`` are those of its kind alone."""
    job_id = new_id(model.id_prefix)
    digest = secret_hash(job_token(model, job_id))
    return jobs_of(model).create(id=job_id, team=team, token_sha256=digest, created_by=actor.label, **columns)


def require_open(job: ClusterJob) -> None:
    """Require that a result is still awaited. Raises a 409 problem: the token opens nothing any more."""
    if job.state not in OPEN:
        raise conflict(f"The {job.noun} is {job.state}.", code=f"{job.noun}_is_over")


@transaction.atomic
def take(model: type[J], job_id: str) -> J:
    """Begin the lease of the worker that has taken a job, or renew it. Raises a 409 problem when the job is over."""
    job = _locked(model, job_id)
    require_open(job)
    if job.state == JobState.QUEUED:
        job.tries += 1
    job.state, job.started_at = JobState.RUNNING, job.started_at or timezone.now()
    job.save(update_fields=["state", "tries", "started_at"])
    model.objects.filter(pk=job_id).update(lease_expires_at=Now() + timedelta(seconds=model.lease_s))
    return job


@transaction.atomic
def give_up(model: type[ClusterJob], job_id: str, reason: str) -> None:
    """End a job that no worker can do, unless it is over."""
    job = _locked(model, job_id)
    if job.state in OPEN:
        fail(job, reason)


def fail(job: J, reason: str) -> J:
    """End a job without a result."""
    return end(job, JobState.FAILED, reason[:2000])


def end(job: J, state: str, error: str | None = None) -> J:
    """End a job in ``state``. Its large columns are not written again."""
    job.state, job.error, job.finished_at = state, error, timezone.now()
    job.save(update_fields=["state", "error", "finished_at", *_without_worker(job)])
    return job


def queue_again(job: ClusterJob) -> None:
    """Let a job wait for another worker."""
    job.state = JobState.QUEUED
    job.save(update_fields=["state", *_without_worker(job)])


def _without_worker(job: ClusterJob) -> tuple[str, ...]:
    """Empty what only a worker gives a meaning. Returns the names of these columns."""
    for column in job.while_running:
        setattr(job, column, None)
    return job.while_running


def _locked(model: type[J], job_id: str) -> J:
    return jobs_of(model).select_for_update().defer(*model.large).get(pk=job_id)

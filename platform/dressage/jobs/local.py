"""The life cycle of a job that the platform's own worker does: claim, heartbeat, return to the queue, end."""

import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import structlog
from django.apps import apps
from django.db import connection, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.module_loading import import_string

from dressage.common.api.problems import Problem
from dressage.jobs.kinds import Kind
from dressage.jobs.messages import send_on_commit
from dressage.jobs.models import JobState, L, LocalJob, Slots, rows_of

logger = structlog.get_logger(__name__)

SILENT_S = 15
"""Seconds without a write after which a worker is assumed dead."""
ASK_AGAIN_S = 10
"""Seconds after which a worker is asked again to take an unclaimed job."""


class Unfinished(Exception):
    """A worker's try has ended before its job. Subclasses give the reason; the caller of ``doing`` handles it."""


class NotOurs(Unfinished):
    """The job was ended, or another worker has it."""


class Stopping(Unfinished):
    """This worker is being stopped; another one continues."""


def notify(job: LocalJob) -> None:
    """Ask a worker, on commit, to continue a job. May be repeated at any time."""
    type(job).objects.filter(pk=job.pk).update(rung_at=Now())
    send_on_commit(job.task, "platform", **{job.task_argument: job.pk})


@transaction.atomic
def claim(model: type[L], job_id: str) -> L | None:
    """Claim a job for the calling worker. None: the job is over, another worker has it, or no slot is free."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [zlib.crc32(model.task.encode())])
    rows = rows_of(model)
    job = rows.select_for_update(of=("self",)).select_related(*model.claimed_with).filter(pk=job_id).first()
    if job is None or job.state not in model.open_states():
        return None
    was_active = job.state in model.active_states
    heard = rows.filter(state__in=model.active_states, heard_at__gte=Now() - timedelta(seconds=SILENT_S))
    if was_active and heard.filter(pk=job.pk).exists():
        return None
    slots = _slots_of(job)
    if heard.filter(slots.jobs).exclude(pk=job.pk).count() >= slots.limit:
        return None
    if was_active and (reason := job.too_many_lost()) is not None:
        end(job, JobState.FAILED, reason)
        return None
    job.state, job.attempt, job.error = model.active_states[0], job.attempt + 1, ""
    job.started_at = job.started_at or timezone.now()
    job.save(update_fields=["state", "attempt", "error", "started_at"])
    rows.filter(pk=job.pk).update(heard_at=Now())
    return job


def report(job: LocalJob, **fields: Any) -> bool:
    """Write this attempt's progress. False: the job was ended, or another worker has it."""
    return _own(job).update(heard_at=Now(), **fields) == 1


def wait(job: LocalJob, reason: str, **fields: Any) -> bool:
    """Let a job wait for a person. Returns False in the same cases as ``report``."""
    return report(job, state=JobState.WAITING, error=reason[:2000], **fields)


def give_back(job: LocalJob, reason: str = "", **fields: Any) -> None:
    """Return a job to the queue that its worker cannot continue now. The sweep soon asks another worker."""
    _own(job).update(state=JobState.QUEUED, error=reason, rung_at=Now(), **fields)


def fail(job: LocalJob, reason: str, **fields: Any) -> None:
    """Fail a job with a reason, unless it is over or another worker has it."""
    end_own(job, JobState.FAILED, reason, **fields)


@transaction.atomic
def end_own(job: LocalJob, state: str, reason: str = "", **fields: Any) -> bool:
    """End a job on behalf of its worker. False: it was already ended, or another worker has it."""
    locked = own_locked(job)
    if locked is None:
        return False
    end(locked, state, reason, **fields)
    return True


def own_locked(job: L) -> L | None:
    """The job with its row locked. None: it was already ended, or another worker has it."""
    locked = rows_of(type(job)).select_for_update().get(pk=job.pk)
    mine = locked.attempt == job.attempt and locked.state in locked.active_states
    return locked if mine else None


def end(job: LocalJob, state: str, reason: str = "", **fields: Any) -> None:
    """End a job whose row the caller has locked. Its work folder is removed after the commit."""
    fields |= {**job.reset_at_end, "state": state, "error": reason[:2000], "finished_at": timezone.now()}
    for name, value in fields.items():
        setattr(job, name, value)
    job.save(update_fields=list(fields))
    if (folder := job.work_folder) is not None:
        transaction.on_commit(lambda: shutil.rmtree(folder, ignore_errors=True))


def queue_again(job: LocalJob, **fields: Any) -> None:
    """Queue a waiting or finished job again. The caller has locked its row."""
    fields |= {"state": JobState.QUEUED, "error": "", "finished_at": None}
    for name, value in fields.items():
        setattr(job, name, value)
    job.save(update_fields=list(fields))
    notify(job)


@contextmanager
def doing(job: LocalJob, *refusals: type[Exception]) -> Iterator[None]:
    """Do a claimed job within the block. If the block does not end it, it is queued again or failed with a reason.

    Args:
        job: the job, as claimed by this worker.
        refusals: errors whose text explains why the job cannot succeed, and what to do.

    Raises:
        Unfinished: NotOurs, so that the output of a cancelled job can be removed; and subclasses of the job's kind.
    """
    try:
        yield
    except Stopping:
        give_back(job)
    except Unfinished:
        raise
    except refusals as error:
        fail(job, str(error))
    except Problem as problem:
        fail(job, problem.detail)
    except OSError as error:
        logger.exception("a job has failed", task=job.task, job=job.pk)
        fail(job, f"The platform's disk cannot be used ({error.strerror or type(error).__name__}).")
    except Exception:
        logger.exception("a job has failed", task=job.task, job=job.pk)
        fail(job, f"The platform failed at this {job.noun}; see its log. Try again, or tell the operator.")


def is_cancelled(job: LocalJob) -> bool:
    """Whether a person has ended it in the meantime."""
    return type(job).objects.filter(pk=job.pk, state=JobState.CANCELLED).exists()


def local_kinds() -> "list[LocalKind]":
    """One kind for each model of local jobs."""
    return [LocalKind(model) for model in apps.get_models() if issubclass(model, LocalJob)]


class LocalKind(Kind):
    """A kind of job that the platform's own worker does."""

    def __init__(self, model: type[LocalJob]) -> None:
        self.name = model.task
        self._model = model

    def work(self, **arguments: str) -> None:
        """Continue a job when its message arrives. May be repeated or run twice in parallel."""
        import_string(self._model.work)(arguments[self._model.task_argument])

    def sweep(self) -> None:
        """Notify a worker again of jobs that no worker is working on: a few for each kind's slots, oldest first."""
        model = self._model
        silent = Q(state__in=model.active_states, heard_at__lt=Now() - timedelta(seconds=SILENT_S))
        unasked = Q(rung_at=None) | Q(rung_at__lt=Now() - timedelta(seconds=ASK_AGAIN_S))
        found = rows_of(model).filter(silent | Q(state=JobState.QUEUED)).filter(unasked).order_by("created_at")
        for slots in model.slots:
            for job in found.filter(slots.jobs)[: slots.limit + 1]:
                with transaction.atomic():
                    notify(job)


def _slots_of(job: LocalJob) -> Slots:
    """The slots that a job shares with other jobs."""
    rows = rows_of(type(job)).filter(pk=job.pk)
    return next(slots for slots in job.slots if rows.filter(slots.jobs).exists())


def _own(job: L) -> Any:
    return rows_of(type(job)).filter(pk=job.pk, attempt=job.attempt, state__in=job.active_states)

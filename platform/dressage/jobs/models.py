"""The columns and constants that all kinds of jobs share."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

from django.db import models
from django.db.models import Q

from dressage.common.models import TeamModel


class JobState(StrEnum):
    """States of jobs. Imports name their states after what they do: see ``LocalJob.active_states``."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    """Waits for a person."""
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class BackgroundJob(TeamModel):
    """One job. The row is the source of truth; messages only wake a worker."""

    task: ClassVar[str]
    """Celery task that does it."""

    rung_at = models.DateTimeField(null=True)
    """Time at which a worker was last asked."""
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    created_by = models.CharField(max_length=300)

    class Meta:
        abstract = True


class Slots(NamedTuple):
    """Number of jobs of a kind that may run at the same time in the installation."""

    limit: int
    jobs: Q = Q()
    """Filter of the kind's jobs that share these slots."""


class LocalJob(BackgroundJob):
    """A job that the platform's own worker does. Workers may be killed at any point; the next one continues."""

    noun: ClassVar[str] = "job"
    """Noun for such a job in messages."""
    work: ClassVar[str]
    """Function that claims and does a job, given its id, as ``module.name``. Only the worker imports it."""
    task_argument: ClassVar[str] = "job_id"
    """Name of the task's argument that holds the job's id."""
    active_states: ClassVar[tuple[str, ...]] = (JobState.RUNNING,)
    """States in which a worker has it; the first one is the state of a newly claimed job."""
    slots: ClassVar[tuple[Slots, ...]]
    """Each job of the kind belongs to exactly one entry."""
    claimed_with: ClassVar[tuple[str, ...]] = ("team",)
    """Relations to fetch along with a claimed job."""
    reset_at_end: ClassVar[Mapping[str, Any]] = {}
    """Values to which columns that only an open job needs are reset."""

    state = models.CharField(max_length=16)
    """Subclasses declare the column with their own choices."""
    error = models.TextField(blank=True)
    """Reason it failed or is waiting, and what to do."""
    attempt = models.PositiveIntegerField(default=0)
    """Number of the worker that has it. An older worker that returns is refused."""
    heard_at = models.DateTimeField(null=True)
    """Time of its worker's last write."""
    actor = models.JSONField()
    """The actor that requested it: ``{kind, id, name}``."""

    class Meta:
        abstract = True

    @classmethod
    def open_states(cls) -> tuple[str, ...]:
        """States in which a worker has it, or will take it."""
        return (JobState.QUEUED, *cls.active_states)

    @property
    def work_folder(self) -> Path | None:
        """Folder to remove when the job is over; None if something else removes its files."""
        return None

    def too_many_lost(self) -> str | None:
        """Count a worker that has fallen silent. Returns the reason to fail if that was one too many."""
        return None


L = TypeVar("L", bound=LocalJob)


def rows_of(model: type[L]) -> "models.QuerySet[L]":
    """All jobs of a kind, typed. Django's manager does not declare the type for a model passed as a parameter."""
    return cast("models.QuerySet[L]", model.objects.all())

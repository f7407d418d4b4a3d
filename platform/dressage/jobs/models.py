"""The columns and constants that every kind of job has."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

from django.db import models
from django.db.models import Q

from dressage.common.models import TeamModel


class JobState(StrEnum):
    """States of jobs. Imports name theirs after what they do: see ``LocalJob.active_states``."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    """For a person."""
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Job(TeamModel):
    """One job. The row is the truth; messages only wake a worker."""

    task: ClassVar[str]
    """Celery task that works on it."""

    rung_at = models.DateTimeField(null=True)
    """Time at which a worker was last asked."""
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    created_by = models.CharField(max_length=300)

    class Meta:
        abstract = True


class Slots(NamedTuple):
    """How many jobs of a kind are worked on at once in the installation."""

    count: int
    jobs: Q = Q()
    """Which of the kind's jobs share these slots."""


class LocalJob(Job):
    """A job that the platform's own worker does. Workers may be killed anywhere; the next one continues."""

    noun: ClassVar[str] = "job"
    """Word for such a job in sentences."""
    work: ClassVar[str]
    """Function that claims a job by its id and does it, as ``module.name``. Only the worker imports it."""
    task_argument: ClassVar[str] = "job_id"
    """Name of the task's argument, the job's id."""
    active_states: ClassVar[tuple[str, ...]] = (JobState.RUNNING,)
    """States in which a worker has it; the first is that of a job that was just claimed."""
    slots: ClassVar[tuple[Slots, ...]]
    """Every job of the kind is in exactly one."""
    claimed_with: ClassVar[tuple[str, ...]] = ("team",)
    """Relations that are fetched with a claimed job."""
    reset_at_end: ClassVar[Mapping[str, Any]] = {}
    """Values of columns that only an open job has a use for."""

    state: Any
    """Column that subclasses declare, with choices of their own."""
    error = models.TextField(blank=True)
    """Reason why it failed or waits, and what to do."""
    attempt = models.PositiveIntegerField(default=0)
    """Number of the worker that has it. An older one that comes back is refused."""
    heard_at = models.DateTimeField(null=True)
    """Time at which its worker last wrote."""
    actor = models.JSONField()
    """Who asked for it: ``{kind, id, name}``."""

    class Meta:
        abstract = True

    @classmethod
    def open_states(cls) -> tuple[str, ...]:
        """States in which a worker has it, or will."""
        return (JobState.QUEUED, *cls.active_states)

    @property
    def work_folder(self) -> Path | None:
        """Folder that is removed when the job is over; None if something else removes its files."""
        return None

    def too_many_lost(self) -> str | None:
        """Count the worker that has fallen silent. Returns the reason to fail if it was one too many."""
        return None


L = TypeVar("L", bound=LocalJob)


def rows_of(model: type[L]) -> "models.QuerySet[L]":
    """All jobs of a kind, with their type, which Django's manager does not state for a given model."""
    return cast("models.QuerySet[L]", model.objects.all())

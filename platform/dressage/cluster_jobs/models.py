"""The columns and constants that all kinds of cluster jobs share."""

from typing import ClassVar, TypeVar, cast

from django.db import models

from dressage.jobs.models import BackgroundJob, JobState

OPEN = (JobState.QUEUED, JobState.RUNNING)
"""States in which a result is still expected."""


class ClusterJob(BackgroundJob):
    """A job that a cluster's worker does, with its own token."""

    noun: ClassVar[str]
    """Noun for such a job in messages and in problem codes."""
    plural: ClassVar[str]
    """Plural of ``noun``."""
    token_prefix: ClassVar[str]
    """Prefix of its workers' tokens."""
    token_salt: ClassVar[str]
    """Text that separates the tokens of the kinds. Changing it invalidates the tokens of open jobs."""
    lease_s: ClassVar[float]
    """Seconds without a request after which a worker is assumed dead."""
    large: ClassVar[tuple[str, ...]]
    """Columns that are not read when only the job's state matters."""
    while_running: ClassVar[tuple[str, ...]] = ("lease_expires_at",)
    """Columns that are null unless a worker is working on it."""

    state = models.CharField(max_length=16, default=JobState.QUEUED.value)
    """Subclasses declare it with their own choices."""
    error = models.CharField(max_length=2000, null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    """Number of workers that have claimed it."""
    token_sha256 = models.CharField(max_length=64, unique=True)
    lease_expires_at = models.DateTimeField(null=True)
    cluster = models.CharField(max_length=63, blank=True, default="", db_default="")
    """Name of the cluster that people chose for it; empty: the platform chooses."""
    placed_on = models.CharField(max_length=63, blank=True, default="", db_default="")
    """Name of the cluster whose workers are asked to do it; empty before they are first asked."""

    class Meta:
        abstract = True


class PlacedJob(ClusterJob):
    """A job with an engine. Each cluster holds only a few at a time, so the job waits for a slot there."""

    places: ClassVar[int]
    """Jobs of the kind, of all teams, that may be held at the same time on each cluster."""
    places_lock: ClassVar[int]
    """Advisory lock for counting and assigning slots of the kind."""

    spec = models.JSONField()
    """Spec of the run that it is about, or that it resembles."""
    placed_at = models.DateTimeField(null=True)
    """Time at which it was given its slot on the cluster."""

    class Meta:
        abstract = True


J = TypeVar("J", bound=ClusterJob)
P = TypeVar("P", bound=PlacedJob)


def jobs_of(model: type[J]) -> "models.QuerySet[J]":
    """All jobs of a kind, typed. Django does not declare the type for a model passed as a parameter."""
    return cast("models.QuerySet[J]", model.objects.all())

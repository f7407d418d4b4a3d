"""The columns and constants that every kind of a cluster's jobs has."""

from typing import ClassVar, TypeVar, cast

from django.db import models

from dressage.jobs.models import Job, JobState

OPEN = (JobState.QUEUED, JobState.RUNNING)
"""States in which a result is still awaited."""


class ClusterJob(Job):
    """A job that the worker of a cluster does, with a token of its own."""

    noun: ClassVar[str]
    """Word for such a job in sentences and in codes of problems."""
    plural: ClassVar[str]
    """Words for several of them."""
    token_prefix: ClassVar[str]
    """Beginning of its workers' tokens."""
    token_salt: ClassVar[str]
    """Text that keeps the tokens of each kind apart. Tokens of open jobs are good only while it stays the same."""
    lease_s: ClassVar[float]
    """Seconds after which a worker that has not asked again is believed dead."""
    large: ClassVar[tuple[str, ...]]
    """Columns that are not read where only the job's state counts."""
    while_running: ClassVar[tuple[str, ...]] = ("lease_expires_at",)
    """Columns that are null unless a worker is at it."""

    state = models.CharField(max_length=16, default=JobState.QUEUED.value)
    """Subclasses declare it with choices of their own."""
    error = models.CharField(max_length=2000, null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    """Number of workers that have claimed it."""
    token_sha256 = models.CharField(max_length=64, unique=True)
    lease_expires_at = models.DateTimeField(null=True)
    cluster = models.CharField(max_length=63, blank=True, default="", db_default="")
    """Name of the cluster that people chose for it; empty: the platform chooses."""
    placed_on = models.CharField(max_length=63, blank=True, default="", db_default="")
    """Name of the cluster whose workers are asked for it; empty before the first question."""

    class Meta:
        abstract = True


class PlacedJob(ClusterJob):
    """A job with an engine, of which each cluster holds few at a time: it waits for its place there."""

    places: ClassVar[int]
    """Jobs of the kind that are held at the same time on each cluster, of all teams."""
    places_lock: ClassVar[int]
    """Advisory lock under which places of the kind are counted and given."""

    spec = models.JSONField()
    """Spec of the run that it is about, or that it is like."""
    placed_at = models.DateTimeField(null=True)
    """Time at which it was given its place on the cluster."""

    class Meta:
        abstract = True


J = TypeVar("J", bound=ClusterJob)
P = TypeVar("P", bound=PlacedJob)


def jobs_of(model: type[J]) -> "models.QuerySet[J]":
    """All jobs of a kind, with their type, which Django's does not tell of a model that is given."""
    return cast("models.QuerySet[J]", model.objects.all())

"""Rehearsals: the row is the source of truth; messages to the cluster only wake it."""

from typing import ClassVar

from django.db import models

from dressage.cluster_jobs.models import PlacedJob
from dressage.jobs.models import JobState
from trainer_core.link import jobs as kinds


class RehearsalState(models.TextChoices):
    """State of a rehearsal."""

    QUEUED = JobState.QUEUED.value, "Queued: it waits for its place, or for a worker"
    RUNNING = JobState.RUNNING.value, "Running: a worker has taken it"
    DONE = JobState.DONE.value, "Done"
    FAILED = JobState.FAILED.value, "Failed"
    CANCELLED = "cancelled", "Cancelled by a person"


class Rehearsal(PlacedJob):
    """One rehearsal of a spec."""

    id_prefix: ClassVar[str] = "rhs"
    noun: ClassVar[str] = "rehearsal"
    plural: ClassVar[str] = "rehearsals"
    task: ClassVar[str] = kinds.REHEARSAL.task
    token_prefix: ClassVar[str] = "rhs_"
    token_salt: ClassVar[str] = "dressage.rehearsals"
    lease_s: ClassVar[float] = 15.0
    """Seconds of its worker's lease; also the longest time that the worker of a cancelled rehearsal continues."""
    places: ClassVar[int] = 1
    """A rehearsal is over in minutes, so it takes no run's slot. The limit of one bounds its cost to the runs."""
    places_lock: ClassVar[int] = 0x7265_6865_6172_7361
    large: ClassVar[tuple[str, ...]] = ("spec", "report")
    while_running: ClassVar[tuple[str, ...]] = ("lease_expires_at", "progress")

    state = models.CharField(max_length=16, choices=RehearsalState.choices, default=RehearsalState.QUEUED)
    prompts = models.PositiveSmallIntegerField()
    """Number of prompts from each source."""
    samples = models.PositiveSmallIntegerField()
    """Number of samples for each prompt."""
    progress = models.JSONField(null=True)
    """``{phase, done, total}`` while a worker is working on it."""
    report = models.JSONField(null=True)
    """The report as the worker sent it."""
    step_time = models.JSONField(null=True)
    """Expected time of one step of the run."""

    class Meta:
        indexes = [
            models.Index(fields=["state", "placed_at"], name="rehearsal_state_place"),
            models.Index(fields=["team", "created_at", "id"], name="rehearsal_page"),
        ]

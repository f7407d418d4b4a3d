"""Rehearsals: the row is the truth; messages to the cluster only wake it."""

from typing import ClassVar

from django.db import models

from dressage.common.models import TeamModel


class RehearsalState(models.TextChoices):
    """State of a rehearsal."""

    QUEUED = "queued", "Queued: it waits for its place, or for a worker"
    RUNNING = "running", "Running: a worker has taken it"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled by a person"


OPEN = (RehearsalState.QUEUED, RehearsalState.RUNNING)
"""States in which a result is still awaited."""


class Rehearsal(TeamModel):
    """One rehearsal of a spec."""

    id_prefix: ClassVar[str] = "rhs"

    state = models.CharField(max_length=16, choices=RehearsalState.choices, default=RehearsalState.QUEUED)
    error = models.CharField(max_length=2000, null=True)
    spec = models.JSONField()
    prompts = models.PositiveSmallIntegerField()
    """Prompts of each source."""
    samples = models.PositiveSmallIntegerField()
    """Samples of each prompt."""
    progress = models.JSONField(null=True)
    """``{phase, done, total}`` while a worker is at it."""
    report = models.JSONField(null=True)
    """The worker's words."""
    step_time = models.JSONField(null=True)
    """Expected time of a step of the run."""
    tries = models.PositiveSmallIntegerField(default=0)
    """Number of workers that have taken it."""
    token_sha256 = models.CharField(max_length=64, unique=True)
    placed_at = models.DateTimeField(null=True)
    """Time at which it was given its place on the cluster."""
    rung_at = models.DateTimeField(null=True)
    """Time at which the cluster was last asked."""
    lease_expires_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    created_by = models.CharField(max_length=300)

    class Meta:
        indexes = [
            models.Index(fields=["state", "placed_at"], name="rehearsal_state_place"),
            models.Index(fields=["team", "created_at", "id"], name="rehearsal_page"),
        ]

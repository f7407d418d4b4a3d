"""Profiles: the row is the truth; messages to the cluster only wake it."""

from typing import ClassVar

from django.db import models

from dressage.common.models import PrefixedModel, TeamQuerySet
from dressage.datasets.models import DatasetVersion
from dressage.jobs.models import JobState, PlacedJob
from trainer_core.link import celery_queue


class ProfileState(models.TextChoices):
    """State of a profile."""

    QUEUED = JobState.QUEUED.value, "Queued: it waits for its place, or for a worker"
    RUNNING = JobState.RUNNING.value, "Running: a worker has taken it"
    DONE = JobState.DONE.value, "Done"
    FAILED = JobState.FAILED.value, "Failed"
    CANCELLED = "cancelled", "Cancelled by a person"


class Profile(PlacedJob):
    """One version, sampled by one policy."""

    id_prefix: ClassVar[str] = "prf"
    noun: ClassVar[str] = "profile"
    task: ClassVar[str] = celery_queue.PROFILE
    token_prefix: ClassVar[str] = "prf_"
    token_salt: ClassVar[str] = "dressage.profiles"
    lease_s: ClassVar[float] = 15.0
    """Seconds of its worker's lease; also the longest that the worker of a cancelled one goes on."""
    places: ClassVar[int] = 1
    places_lock: ClassVar[int] = 0x7072_6F66_696C_6573
    large: ClassVar[tuple[str, ...]] = ("spec", "report")
    while_running: ClassVar[tuple[str, ...]] = ("lease_expires_at", "progress")

    state = models.CharField(max_length=16, choices=ProfileState.choices, default=ProfileState.QUEUED)
    version = models.ForeignKey(DatasetVersion, on_delete=models.CASCADE, related_name="+")
    plan = models.JSONField()
    """``ProfilePlan``."""
    threshold = models.FloatField()
    """Reward from which an answer counts as right."""
    batches = models.PositiveIntegerField(default=0)
    """Number of batches that were handed in."""
    progress = models.JSONField(null=True)
    """``ProfileProgress`` while a worker is at it."""
    report = models.JSONField(null=True)
    """``report.ProfileReport``."""

    class Meta:
        indexes = [
            models.Index(fields=["state", "placed_at"], name="profile_state_place"),
            models.Index(fields=["team", "created_at", "id"], name="profile_page"),
        ]


class HandedInBatch(PrefixedModel):
    """Rows that a worker has handed in, as they stood then: of a row, the newest batch tells."""

    id_prefix: ClassVar[str] = "prb"
    team_path: ClassVar[str] = "profile__team"

    profile = models.ForeignKey(Profile, on_delete=models.CASCADE, related_name="handed_in")
    number = models.PositiveIntegerField()
    rows = models.JSONField()
    """``ProfileRow`` of each; none once the profile is over."""
    tokens = models.PositiveBigIntegerField()
    seconds = models.FloatField()

    objects = TeamQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["profile", "number"], name="one_profile_batch_per_number")]

"""Profiles: the row is the source of truth; messages to the cluster only wake it."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from dressage.cluster_jobs.models import PlacedJob
from dressage.common.models import PrefixedModel, TeamModel, TeamQuerySet
from dressage.datasets.models import DatasetVersion
from dressage.jobs.models import JobState
from trainer_core.link import jobs as kinds


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
    plural: ClassVar[str] = "profiles"
    task: ClassVar[str] = kinds.PROFILE.task
    token_prefix: ClassVar[str] = "prf_"
    token_salt: ClassVar[str] = "dressage.profiles"
    lease_s: ClassVar[float] = 15.0
    """Seconds of its worker's lease; also the longest time that the worker of a cancelled profile continues."""
    places: ClassVar[int] = 1
    places_lock: ClassVar[int] = 0x7072_6F66_696C_6573
    large: ClassVar[tuple[str, ...]] = ("spec", "report", "outcomes")
    while_running: ClassVar[tuple[str, ...]] = ("lease_expires_at", "progress")

    state = models.CharField(max_length=16, choices=ProfileState.choices, default=ProfileState.QUEUED)
    version = models.ForeignKey(DatasetVersion, on_delete=models.CASCADE, related_name="+")
    plan = models.JSONField()
    """``ProfilePlan``."""
    threshold = models.FloatField()
    """Minimum reward at which an answer counts as right."""
    batches = models.PositiveIntegerField(default=0)
    """Number of batches submitted."""
    progress = models.JSONField(null=True)
    """``ProfileProgress`` while a worker is working on it."""
    report = models.JSONField(null=True)
    """``report.ProfileReport``."""
    outcomes = models.JSONField(null=True)
    """``outcomes.RowOutcomes`` of all rows, once it is done; null in profiles from before 2026-11-26."""

    class Meta:
        indexes = [
            models.Index(fields=["state", "placed_at"], name="profile_state_place"),
            models.Index(fields=["team", "created_at", "id"], name="profile_page"),
        ]


class HandedInBatch(PrefixedModel):
    """Rows that a worker has submitted, as of that time. The newest batch that contains a row counts."""

    id_prefix: ClassVar[str] = "prb"
    team_path: ClassVar[str] = "profile__team"

    profile = models.ForeignKey(Profile, on_delete=models.CASCADE, related_name="handed_in")
    number = models.PositiveIntegerField()
    rows = models.JSONField()
    """``ProfileRow`` for each row; empty once the profile is over."""
    tokens = models.PositiveBigIntegerField()
    seconds = models.FloatField()

    objects = TeamQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["profile", "number"], name="one_profile_batch_per_number")]


class GoldilocksState(models.TextChoices):
    """State of a goldilocks in two stages."""

    FIRST = "first", "The first policy tries the rows"
    SECOND = "second", "The second policy tries all rows again"
    DONE = "done", "Its version is stored"
    FAILED = "failed", "Ended with a sentence that says what to do; no version was made"
    CANCELLED = "cancelled", "Ended by a person; no version was made"


GOLDILOCKS_OPEN = (GoldilocksState.FIRST, GoldilocksState.SECOND)


class Goldilocks(TeamModel):
    """Rows of a version that are neither too hard nor too easy for one policy, and then for a stronger one."""

    id_prefix: ClassVar[str] = "gld"

    version = models.ForeignKey(DatasetVersion, on_delete=models.CASCADE, related_name="+")
    asked = models.JSONField()
    """``goldilocks.asked.AskedGoldilocks``."""
    state = models.CharField(max_length=10, choices=GoldilocksState.choices, default=GoldilocksState.FIRST)
    error = models.CharField(max_length=2000, null=True)
    """Reason it failed, and what to do."""
    first = models.ForeignKey(Profile, on_delete=models.CASCADE, null=True, related_name="+")
    second = models.ForeignKey(Profile, on_delete=models.CASCADE, null=True, related_name="+")
    """Profile of each stage; null before the stage has started."""
    reused = models.JSONField(default=list)
    """Stages that used an existing profile."""
    report = models.JSONField(null=True)
    """``goldilocks.decide.GoldilocksReport``."""
    made = models.ForeignKey(DatasetVersion, on_delete=models.SET_NULL, null=True, related_name="+")
    finished_at = models.DateTimeField(null=True)
    actor = models.JSONField()
    """The actor that requested it: ``{kind, id, name}``."""
    created_by = models.CharField(max_length=300)

    @property
    def made_version(self) -> DatasetVersion | None:
        """The version that it has created, unless that was deleted."""
        return None if self.made is None or self.made.is_deleted else self.made

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["version"], condition=Q(state__in=["first", "second"]), name="one_open_goldilocks"
            )
        ]
        indexes = [
            models.Index(fields=["version", "created_at", "id"], name="goldilocks_page"),
        ]

"""Servings and their waiting questions: rows are the source of truth, messages to the cluster only wake it."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from dressage.cluster_jobs.models import ClusterJob
from dressage.common.models import PrefixedModel, TeamQuerySet
from dressage.jobs.models import JobState
from trainer_core.link import jobs as kinds


class ServingState(models.TextChoices):
    """State of a serving."""

    QUEUED = JobState.QUEUED.value, "Queued: the cluster was asked"
    RUNNING = JobState.RUNNING.value, "Running: a worker serves, or is about to"
    DONE = JobState.DONE.value, "Nobody asks any more"
    FAILED = JobState.FAILED.value, "Failed"


class Serving(ClusterJob):
    """Models that the cluster serves for a caller; over once the caller no longer needs them."""

    id_prefix: ClassVar[str] = "srv"
    noun: ClassVar[str] = "serving"
    plural: ClassVar[str] = "servings"
    task: ClassVar[str] = kinds.SERVING.task
    token_prefix: ClassVar[str] = "srv_"
    token_salt: ClassVar[str] = "dressage.serving"
    lease_s: ClassVar[float] = 15.0
    large: ClassVar[tuple[str, ...]] = ()

    state = models.CharField(max_length=16, choices=ServingState.choices, default=ServingState.QUEUED)
    asked_for = models.CharField(max_length=40)
    """Id of the caller, for example a job."""
    endpoints = models.JSONField()
    """Slugs of the team's judge endpoints that are served, by the names that questions use for them."""
    asked_at = models.DateTimeField()
    """Time at which the caller last used it."""

    class Meta:
        indexes = [models.Index(fields=["state", "rung_at"], name="serving_state_rung")]
        constraints = [
            models.UniqueConstraint(
                fields=["asked_for"],
                condition=Q(state__in=[ServingState.QUEUED.value, ServingState.RUNNING.value]),
                name="one_open_serving",
            )
        ]


class WaitingQuestion(PrefixedModel):
    """A question. It is stored until its caller has fetched the answer."""

    id_prefix: ClassVar[str] = "srq"
    team_path: ClassVar[str] = "serving__team"

    serving = models.ForeignKey(Serving, on_delete=models.CASCADE, related_name="questions")
    document = models.JSONField()
    """``trainer_core.link.serving.ServedQuestion`` without its id."""
    answer = models.JSONField(null=True)
    """``ServedAnswer`` without its id, once there is one."""

    objects = TeamQuerySet.as_manager()

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
    """Models that the cluster serves for a caller; over once the caller no longer needs them.

    The caller is a job of the platform, which sends questions over the link; or, if there is a ``policy``, anyone with
    the key, whose programs use the policy's own HTTP server.
    """

    id_prefix: ClassVar[str] = "srv"
    noun: ClassVar[str] = "serving"
    plural: ClassVar[str] = "servings"
    task: ClassVar[str] = kinds.SERVING.task
    token_prefix: ClassVar[str] = "srv_"
    token_salt: ClassVar[str] = "dressage.serving"
    lease_s: ClassVar[float] = 15.0
    large: ClassVar[tuple[str, ...]] = ()
    while_running: ClassVar[tuple[str, ...]] = ("lease_expires_at", "progress")

    state = models.CharField(max_length=16, choices=ServingState.choices, default=ServingState.QUEUED)
    asked_for = models.CharField(max_length=40)
    """Id of the caller, for example a job; or of the policy."""
    endpoints = models.JSONField()
    """Slugs of the team's judge endpoints that are served, by the names that questions use for them."""
    asked_at = models.DateTimeField()
    """Time at which the caller last used it; of a policy, the time of its creation."""
    policy = models.ForeignKey("policies.Policy", on_delete=models.CASCADE, null=True, related_name="+")
    """The policy that is served over HTTP; then there are no endpoints and no questions."""
    key_sha256 = models.CharField(max_length=64, blank=True, default="", db_default="")
    """Hash of the key that requests to the policy need."""
    progress = models.JSONField(null=True)
    """``trainer_core.link.serving.ServingProgress`` while a worker serves a policy."""

    class Meta:
        indexes = [
            models.Index(fields=["state", "rung_at"], name="serving_state_rung"),
            models.Index(fields=["team", "created_at", "id"], name="serving_page", condition=Q(policy__isnull=False)),
        ]
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

"""Bench jobs: samples that the cluster scores with one or two definitions."""

from typing import ClassVar

from django.db import models

from dressage.common.models import TeamModel


class BenchState(models.TextChoices):
    """State of a bench job."""

    QUEUED = "queued", "Queued: the cluster was asked"
    RUNNING = "running", "Running: a worker has taken it"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"


OPEN = (BenchState.QUEUED, BenchState.RUNNING)
"""States in which a result is still awaited."""


class BenchJob(TeamModel):
    """One comparison on the bench. The row is the truth; messages to the cluster only wake it."""

    id_prefix: ClassVar[str] = "bench"

    state = models.CharField(max_length=16, choices=BenchState.choices, default=BenchState.QUEUED)
    error = models.CharField(max_length=2000, null=True)
    definitions = models.JSONField()
    """``[{label, ref | null, definition}]``, one or two."""
    source = models.JSONField()
    """Source of the samples: ``{type: pasted}``, ``{type: dataset, …}`` or ``{type: run, …}``."""
    samples = models.JSONField()
    """``[{id, output_text, item, completion_tokens | null, finish_reason, probe | null, stored | null}]``."""
    thinking = models.JSONField()
    """``{start, end, answer_start?}``: the tags around thoughts, and what opens the answer."""
    timeout_s = models.FloatField()
    """Longest time that one sample's score may take."""
    probes = models.BooleanField(default=False)
    hidden = models.BooleanField(default=False)
    """Made for a single answer, such as OpenAI's ``graders/run``: not in the list."""
    results = models.JSONField(null=True)
    """``[definition][sample]``: the worker's words."""
    judge = models.JSONField(null=True)
    """Use of the judges, and what it took."""
    tries = models.PositiveSmallIntegerField(default=0)
    """Number of workers that have taken it."""
    token_sha256 = models.CharField(max_length=64, unique=True)
    rung_at = models.DateTimeField(null=True)
    """Time at which the cluster was last asked."""
    lease_expires_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    created_by = models.CharField(max_length=300)

    class Meta:
        indexes = [
            models.Index(fields=["state", "rung_at"], name="bench_state_rung"),
            models.Index(fields=["team", "created_at", "id"], condition=models.Q(hidden=False), name="bench_page"),
        ]

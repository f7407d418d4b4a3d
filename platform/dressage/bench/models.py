"""Bench jobs: samples that the cluster scores with one or two definitions."""

from typing import ClassVar

from django.db import models

from dressage.cluster_jobs.models import ClusterJob
from dressage.jobs.models import JobState
from trainer_core.link import jobs as kinds


class BenchState(models.TextChoices):
    """State of a bench job."""

    QUEUED = JobState.QUEUED.value, "Queued: the cluster was asked"
    RUNNING = JobState.RUNNING.value, "Running: a worker has taken it"
    DONE = JobState.DONE.value, "Done"
    FAILED = JobState.FAILED.value, "Failed"


class BenchJob(ClusterJob):
    """One comparison on the bench."""

    id_prefix: ClassVar[str] = "bench"
    noun: ClassVar[str] = "job"
    plural: ClassVar[str] = "bench jobs"
    task: ClassVar[str] = kinds.BENCH.task
    token_prefix: ClassVar[str] = "bnc_"
    token_salt: ClassVar[str] = "dressage.rewards.bench"
    lease_s: ClassVar[float] = 30.0
    large: ClassVar[tuple[str, ...]] = ("samples", "results")

    state = models.CharField(max_length=16, choices=BenchState.choices, default=BenchState.QUEUED)
    definitions = models.JSONField()
    """``[{label, ref | null, definition}]``, one or two."""
    source = models.JSONField()
    """Source of the samples: ``{type: pasted}``, ``{type: dataset, …}`` or ``{type: run, …}``."""
    samples = models.JSONField()
    """``[{id, output_text, item, completion_tokens | null, finish_reason, probe | null, stored | null}]``."""
    thinking = models.JSONField()
    """``{start, end, answer_start?}``: the tags around thoughts, and what opens the answer."""
    timeout_s = models.FloatField()
    """Time limit for scoring one sample."""
    probes = models.BooleanField(default=False)
    hidden = models.BooleanField(default=False)
    """Created for a single answer, such as OpenAI's ``graders/run``: not in the list."""
    results = models.JSONField(null=True)
    """``[definition][sample]``: the scores as the worker sent them."""
    judge = models.JSONField(null=True)
    """Usage of the judges, and the time and cost of scoring."""

    class Meta:
        app_label = "rewards"  # the table has always belonged to rewards
        indexes = [
            models.Index(fields=["state", "rung_at"], name="bench_state_rung"),
            models.Index(fields=["team", "created_at", "id"], condition=models.Q(hidden=False), name="bench_page"),
        ]

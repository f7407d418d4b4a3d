"""Looks after bench jobs every two seconds: enqueues again, gives up, forgets old ones. Idempotent; several may run."""

from django.db.models import Q

from dressage.jobs.services import fail
from dressage.jobs.sweep import ago, endless, for_each, lost, replace_worker, unanswered, untaken
from dressage.rewards.models import BenchJob
from dressage.runs.job_clusters import cluster_words, send

FIRST_TAKE_LIMIT_S = 600
"""A job that no worker has taken in this time has failed."""
MAX_S = 3600
"""A job that takes longer, from its first worker on, has failed."""
MAX_TRIES = 3
"""Workers that may be lost before a job has failed."""
KEPT_S, HIDDEN_KEPT_S = 30 * 86_400, 86_400
"""Seconds for which jobs are kept: those that are listed, and hidden ones."""


def sweep_bench() -> None:
    """One round."""
    for_each(lost(BenchJob), lambda job: replace_worker(job, MAX_TRIES, "scored it.", send))
    for_each(
        untaken(BenchJob).filter(created_at__lt=ago(FIRST_TAKE_LIMIT_S)),
        lambda job: fail(job, f"No worker of {cluster_words(job.placed_on)} has taken the job within ten minutes."),
    )
    for_each(endless(BenchJob, MAX_S), lambda job: fail(job, "The job was not done within an hour."))
    for_each(unanswered(BenchJob), send)
    old = Q(created_at__lt=ago(KEPT_S)) | Q(created_at__lt=ago(HIDDEN_KEPT_S), hidden=True)
    BenchJob.objects.filter(old).delete()

"""Looks after servings every two seconds: enqueues again, gives up, ends unwanted ones. Idempotent; several may run."""

from dressage.jobs.models import OPEN
from dressage.jobs.services import fail
from dressage.jobs.sweep import ago, for_each, lost, replace_worker, unanswered, untaken
from dressage.runs.job_clusters import cluster_words, send
from dressage.serving.models import Serving
from dressage.serving.services import end_serving

UNWANTED_S = 60
"""Seconds without whoever asks after which a serving is over."""
FIRST_TAKE_LIMIT_S = 600
"""A serving that no worker has taken in this time has failed."""
MAX_TRIES = 3
"""Workers that may be lost one after the other, without an answer, before a serving has failed."""
KEPT_S = 86_400
"""Seconds for which servings that are over are kept."""


def sweep_servings() -> None:
    """One round."""
    for_each(Serving.objects.filter(state__in=OPEN, asked_at__lt=ago(UNWANTED_S)), end_serving)
    loss = "served the model: the cluster may lack the memory for it."
    for_each(lost(Serving), lambda serving: replace_worker(serving, MAX_TRIES, loss, send))
    for_each(untaken(Serving).filter(created_at__lt=ago(FIRST_TAKE_LIMIT_S)), _fail_untaken)
    for_each(unanswered(Serving), send)
    Serving.objects.exclude(state__in=OPEN).filter(finished_at__lt=ago(KEPT_S)).delete()


def _fail_untaken(serving: Serving) -> None:
    worker = f"worker of {cluster_words(serving.placed_on)}"
    fail(serving, f"No {worker} has taken on the model within {FIRST_TAKE_LIMIT_S // 60} minutes: is it up?")

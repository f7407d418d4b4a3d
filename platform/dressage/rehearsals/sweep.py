"""Looks after rehearsals every two seconds: gives places, enqueues again, gives up, forgets. Idempotent; several may
run."""

from dressage.jobs.services import fail
from dressage.jobs.sweep import ago, endless, for_each, lost, replace_worker, unanswered, untaken
from dressage.rehearsals.models import Rehearsal
from dressage.rehearsals.services import LIMIT_S
from dressage.runs.job_clusters import cluster_words
from dressage.runs.job_places import give_places, send_again

FIRST_TAKE_LIMIT_S = 300
"""A rehearsal that has its place and that no worker has taken in this time has failed."""
SPARE_S = 60
"""Time beyond its limit after which a rehearsal has failed, whatever its worker says."""
MAX_TRIES = 2
"""Workers that may be lost before a rehearsal has failed."""
KEPT_S = 7 * 86_400
"""Seconds for which rehearsals are kept."""


def sweep_rehearsals() -> None:
    """One round."""
    loss = "held it: the cluster may lack the memory for its engine."
    for_each(lost(Rehearsal), lambda rehearsal: replace_worker(rehearsal, MAX_TRIES, loss, send_again))
    for_each(untaken(Rehearsal).filter(placed_at__lt=ago(FIRST_TAKE_LIMIT_S)), _fail_untaken)
    late = f"The rehearsal was not done within {LIMIT_S / 60:g} minutes. Take fewer prompts or shorter answers."
    for_each(endless(Rehearsal, LIMIT_S + SPARE_S), lambda rehearsal: fail(rehearsal, late))
    for_each(unanswered(Rehearsal).filter(placed_at__isnull=False), send_again)
    give_places(Rehearsal)
    Rehearsal.objects.filter(created_at__lt=ago(KEPT_S)).delete()


def _fail_untaken(rehearsal: Rehearsal) -> None:
    worker = f"worker of {cluster_words(rehearsal.placed_on)}"
    fail(rehearsal, f"No {worker} has taken the rehearsal within {FIRST_TAKE_LIMIT_S // 60} minutes: is it up?")

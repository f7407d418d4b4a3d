"""Looks after profiles every two seconds: gives places, enqueues again, gives up. Idempotent; several may run."""

from dressage.jobs.services import fail
from dressage.jobs.sweep import ago, endless, for_each, lost, replace_worker, unanswered, untaken
from dressage.profiles.models import Profile
from dressage.profiles.services import LIMIT_S, end_early
from dressage.runs.job_clusters import cluster_words
from dressage.runs.job_places import give_places, send_again

FIRST_TAKE_LIMIT_S = 600
"""A profile that has its place and that no worker has taken in this time has failed."""
MAX_TRIES = 3
"""Workers that may be lost one after the other, without a batch, before a profile has failed."""


def sweep_profiles() -> None:
    """One round."""
    for_each(lost(Profile), _replace)
    for_each(untaken(Profile).filter(placed_at__lt=ago(FIRST_TAKE_LIMIT_S)), _fail_untaken)
    late = f"The profile was not done within {2 * LIMIT_S / 3600:g} hours. Take a smaller budget or shorter answers."
    for_each(endless(Profile, 2 * LIMIT_S), lambda profile: end_early(profile, "time", late))
    for_each(unanswered(Profile).filter(placed_at__isnull=False), send_again)
    give_places(Profile)


def _replace(profile: Profile) -> None:
    loss = "sampled: the cluster may lack the memory for the engine."
    if profile.tries >= MAX_TRIES:
        end_early(profile, "lost", f"{profile.tries} workers were lost while they {loss}")
    else:
        replace_worker(profile, MAX_TRIES, loss, send_again)


def _fail_untaken(profile: Profile) -> None:
    worker = f"worker of {cluster_words(profile.placed_on)}"
    fail(profile, f"No {worker} has taken the profile within {FIRST_TAKE_LIMIT_S // 60} minutes: is it up?")

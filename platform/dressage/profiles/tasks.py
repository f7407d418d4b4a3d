"""Celery tasks of profiles."""

from celery import shared_task

from dressage.profiles.goldilocks.advance import sweep_goldilocks
from dressage.profiles.sweep import sweep_profiles


@shared_task(name="profiles.sweep")
def sweep() -> None:
    """Sent by beat; may be repeated or run twice at once."""
    sweep_profiles()


@shared_task(name="profiles.sweep_goldilocks")
def sweep_goldilocks_jobs() -> None:
    """Sent by beat; may be repeated or run twice at once."""
    sweep_goldilocks()

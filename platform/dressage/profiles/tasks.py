"""Celery tasks of profiles."""

from celery import shared_task

from dressage.profiles.sweep import sweep_profiles


@shared_task(name="profiles.sweep")
def sweep() -> None:
    """Sent by beat; may be repeated or run twice at once."""
    sweep_profiles()

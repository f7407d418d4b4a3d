"""Celery tasks of rehearsals."""

from celery import shared_task

from dressage.rehearsals.sweep import sweep_rehearsals


@shared_task(name="rehearsals.sweep")
def sweep() -> None:
    """Sent by beat; may be repeated or run twice at once."""
    sweep_rehearsals()

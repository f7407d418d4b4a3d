"""Celery tasks of the platform."""

from celery import shared_task

from dressage.runs.reconcile import sweep


@shared_task(name="runs.reconcile")
def reconcile() -> None:
    """Sent by beat and by everyone who queues a run; may be repeated or run twice at once."""
    sweep()

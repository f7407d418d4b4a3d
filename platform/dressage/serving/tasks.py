"""Celery tasks of servings."""

from celery import shared_task

from dressage.serving.sweep import sweep_servings


@shared_task(name="serving.sweep")
def sweep() -> None:
    """Sent by beat; may be repeated or run twice at once."""
    sweep_servings()

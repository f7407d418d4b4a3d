"""Celery tasks of the bench."""

from celery import shared_task

from dressage.bench.sweep import sweep_bench


@shared_task(name="rewards.sweep_bench")
def sweep() -> None:
    """Sent by beat; may be repeated or run twice at once."""
    sweep_bench()

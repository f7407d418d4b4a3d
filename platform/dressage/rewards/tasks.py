"""Celery tasks of rewards."""

from celery import shared_task

from dressage.rewards.bench.sweep import sweep_bench


@shared_task(name="rewards.sweep_bench")
def sweep() -> None:
    """Rung by beat; may be repeated or run twice at once."""
    sweep_bench()

"""Celery tasks of jobs."""

from celery import shared_task

from dressage.jobs.sweep import sweep_jobs


@shared_task(name="jobs.sweep")
def sweep() -> None:
    """Sent by beat; may be repeated or run twice at once."""
    sweep_jobs()

"""Celery tasks of the lab."""

from celery import shared_task

from dressage.lab.carry_out import carry_out
from dressage.lab.enqueue import TASK
from dressage.lab.sweep import sweep_jobs


# Acknowledged at once: a job may take longer than a queue waits for it, and the sweep asks again by itself.
@shared_task(name=TASK, acks_late=False)
def lab_job(job_id: str) -> None:
    """Go on with a job; may be repeated or run twice at once."""
    carry_out(job_id)


@shared_task(name="lab.sweep")
def sweep() -> None:
    """Sent by beat; may be repeated or run twice at once."""
    sweep_jobs()

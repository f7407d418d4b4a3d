"""Celery tasks of policies."""

import time

from celery import shared_task

from dressage.policies import leftovers


@shared_task(name="policies.sweep_leftovers")
def sweep_leftovers() -> None:
    """Sent by beat; may be repeated or run twice at once."""
    leftovers.sweep(time.time())

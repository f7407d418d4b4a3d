"""Celery tasks of policies."""

import time

from celery import shared_task

from dressage.policies import leftovers


@shared_task(name="policies.sweep_leftovers")
def sweep_leftovers() -> None:
    """Sent by beat. May be repeated or run concurrently."""
    leftovers.sweep(time.time())

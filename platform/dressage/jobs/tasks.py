"""Celery tasks of jobs."""

import structlog
from celery import shared_task

from dressage.jobs.kinds import kinds
from dressage.jobs.local import local_kinds

logger = structlog.get_logger(__name__)

# # Acknowledged immediately: a job may run longer than the queue's timeout, and the sweep sends it again anyway.
for _kind in local_kinds():
    shared_task(name=_kind.name, acks_late=False)(_kind.work)


@shared_task(name="jobs.sweep")
def sweep() -> None:
    """Sent by beat every two seconds; may be repeated or run twice in parallel."""
    sweep_jobs()


def sweep_jobs() -> None:
    """One round over all kinds. A fault of one kind does not keep the others from running."""
    for kind in (*local_kinds(), *kinds()):
        try:
            kind.sweep()
        except Exception:
            logger.exception("jobs could not be swept", kind=kind.name)

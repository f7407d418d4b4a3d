"""Celery tasks of jobs."""

import structlog
from celery import shared_task

from dressage.jobs.kinds import kinds
from dressage.jobs.local import local_kinds

logger = structlog.get_logger(__name__)

# Acknowledged at once: a job may take longer than a queue waits for it, and the sweep asks again by itself.
for _kind in local_kinds():
    shared_task(name=_kind.name, acks_late=False)(_kind.work)


@shared_task(name="jobs.sweep")
def sweep() -> None:
    """Sent by beat every two seconds; may be repeated or run twice at once."""
    sweep_jobs()


def sweep_jobs() -> None:
    """One round over all kinds. One kind's fault does not keep the others from theirs."""
    for kind in (*local_kinds(), *kinds()):
        try:
            kind.sweep()
        except Exception:
            logger.exception("jobs could not be swept", kind=kind.name)

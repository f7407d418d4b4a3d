"""Messages to the Celery queues, sent on commit. A lost one only delays: the reconciler sends it again."""

from functools import partial
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from kombu.exceptions import OperationalError

from dressage.celery import app
from trainer_core.link import celery_queue

logger = structlog.get_logger(__name__)


def enqueue_start(run_id: str, attempt: int) -> None:
    """Ask the cluster to start an attempt. It may be asked again at any time: an attempt starts once.

    The message holds no secret, because the queue is a file too: the worker asks for the attempt's token.
    """
    arguments = {"run_id": run_id, "attempt": attempt, "link_url": settings.LINK_URL}
    transaction.on_commit(partial(_send, celery_queue.START, celery_queue.QUEUE, arguments))


def enqueue_stop(run_id: str, attempt: int) -> None:
    """Ask the cluster to kill what is left of an attempt."""
    transaction.on_commit(partial(_send, celery_queue.STOP, celery_queue.QUEUE, {"run_id": run_id, "attempt": attempt}))


def enqueue_reconcile() -> None:
    """Have the queue looked at now instead of at the next beat."""
    transaction.on_commit(partial(_send, "runs.reconcile", "platform", {}))


def _send(name: str, queue: str, arguments: dict[str, Any]) -> None:
    try:
        app.send_task(name, kwargs=arguments, queue=queue, retry=False, ignore_result=True)
    except (OperationalError, OSError) as error:
        logger.warning("message lost", task=name, run=arguments.get("run_id"), error=str(error))

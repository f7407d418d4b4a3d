"""Messages to the Celery queues, sent on commit. Losing one only causes a delay: the reconciler sends it again."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from kombu.exceptions import OperationalError

from dressage.celery import app
from trainer_core.link import celery_queue
from trainer_core.link.cluster import ResourceBundle

logger = structlog.get_logger(__name__)

MEASURE_S = 30.0
"""Seconds after which the answer to a question for a cluster's size is no longer useful."""


CHECK_S = 10.0
"""Seconds after which the answer to the question whether a worker lives is no longer useful."""


def enqueue_start(run_id: str, attempt: int, cluster: str) -> None:
    """Ask the named cluster to start an attempt. May be repeated at any time: an attempt starts only once.

    The message contains no secret, because the queue is a file too: the worker requests the attempt's token.
    """
    arguments = {"run_id": run_id, "attempt": attempt, "link_url": settings.LINK_URL}
    transaction.on_commit(partial(_send, celery_queue.START, celery_queue.queue_of(cluster), arguments))


def enqueue_stop(run_id: str, attempt: int, cluster: str) -> None:
    """Ask the named cluster to kill what is left of an attempt."""
    queue = celery_queue.queue_of(cluster)
    transaction.on_commit(partial(_send, celery_queue.STOP, queue, {"run_id": run_id, "attempt": attempt}))


def enqueue_check(cluster: str, attempts: Sequence[tuple[str, int]]) -> None:
    """Ask the named cluster whether the controllers of attempts (run, number) live. It reports those that do not."""
    arguments = {"attempts": [list(attempt) for attempt in attempts], "link_url": settings.LINK_URL}
    queue = celery_queue.queue_of(cluster)
    transaction.on_commit(partial(_send, celery_queue.CHECK, queue, arguments, CHECK_S))


def enqueue_measure(cluster: str, demand: Sequence[ResourceBundle]) -> None:
    """Ask a worker of the named cluster for the cluster's size, and pass ``demand`` to its autoscaler."""
    told = [bundle.model_dump(mode="json") for bundle in demand]
    arguments = {"cluster": cluster, "link_url": settings.LINK_URL, "demand": told}
    transaction.on_commit(partial(_send, celery_queue.MEASURE, celery_queue.queue_of(cluster), arguments, MEASURE_S))


def enqueue_reconcile() -> None:
    """Have the queue checked now instead of at the next beat."""
    transaction.on_commit(partial(_send, "runs.reconcile", "platform", {}))


def _send(name: str, queue: str, arguments: dict[str, Any], expires: float | None = None) -> None:
    try:
        app.send_task(name, kwargs=arguments, queue=queue, retry=False, ignore_result=True, expires=expires)
    except (OperationalError, OSError) as error:
        logger.warning("message lost", task=name, run=arguments.get("run_id"), error=str(error))

"""Messages to workers. Losing one only causes a delay: the sweep sends it again."""

from functools import partial
from typing import Any

import structlog
from django.db import transaction
from kombu.exceptions import OperationalError

from dressage.celery import app

logger = structlog.get_logger(__name__)


def send_on_commit(task: str, queue: str, **arguments: Any) -> None:
    """Send a task after the transaction commits. It may be sent again at any time, so it must not contain a secret."""
    transaction.on_commit(partial(_send, task, queue, arguments))


def _send(task: str, queue: str, arguments: dict[str, Any]) -> None:
    try:
        app.send_task(task, kwargs=arguments, queue=queue, retry=False, ignore_result=True)
    except (OperationalError, OSError) as error:
        logger.warning("message lost", task=task, arguments=arguments, error=str(error))

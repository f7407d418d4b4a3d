"""Celery on the cluster: the queue ``cluster`` only wakes workers; the platform's leases decide.

A message may arrive twice or late. Tasks are idempotent by actor name, so a repeated ``start`` finds the existing
controller. They return within seconds, far below Redis' visibility time-out, so ``acks_late`` is safe here: a killed
worker loses nothing, and the platform's reconciler resends in any case.
"""

import logging
import os
from typing import Any

from celery import Celery
from celery.signals import heartbeat_sent, setup_logging

from trainer_core.link import celery_queue
from trainer_core.link.heartbeat import show_alive
from trainer_core.log_lines import format_from_environment

app = Celery("worker", broker=celery_queue.broker_url(os.environ.get("REDIS_URL", "redis://127.0.0.1:6379/0")))
app.conf.update(
    accept_content=["json"],
    task_serializer="json",
    task_ignore_result=True,
    task_default_queue=celery_queue.QUEUE,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    broker_connection_retry_on_startup=True,
    broker_transport_options={"visibility_timeout": 120},
    worker_prefetch_multiplier=1,
    # Ray enables faulthandler on the real standard error; Celery's replacement has no file descriptor.
    worker_redirect_stdouts=False,
    timezone="UTC",
    imports=("worker.tasks",),
)
heartbeat_sent.connect(show_alive)


@setup_logging.connect
def _write_lines_as_the_platform_does(loglevel: int | str | None = None, **_: Any) -> None:
    """Set up logging instead of Celery: the same format as the platform's, plain or JSON."""
    handler = logging.StreamHandler()
    handler.setFormatter(format_from_environment())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(loglevel or logging.WARNING)

"""Messages to the cluster about a rehearsal. A lost one only delays: the sweep sends it again."""

from functools import partial
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from dressage.celery import app
from dressage.rehearsals.models import Rehearsal
from trainer_core.link import celery_queue

logger = structlog.get_logger(__name__)


def enqueue_rehearsal(rehearsal: Rehearsal) -> None:
    """Ask the cluster, on commit, to hold a rehearsal that has its place. It may be asked again at any time."""
    Rehearsal.objects.filter(pk=rehearsal.pk).update(rung_at=Now())
    arguments = {"job_id": rehearsal.id, "link_url": settings.LINK_URL}
    transaction.on_commit(partial(_send, arguments))


def _send(arguments: dict[str, Any]) -> None:
    name = celery_queue.REHEARSE
    try:
        app.send_task(name, kwargs=arguments, queue=celery_queue.QUEUE, retry=False, ignore_result=True)
    except (OperationalError, OSError) as error:
        logger.warning("message lost", task=name, rehearsal=arguments["job_id"], error=str(error))

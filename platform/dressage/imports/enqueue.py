"""Messages to the platform's own worker about an import. A lost one only delays: the sweep sends it again."""

from functools import partial

import structlog
from django.db import transaction
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from dressage.celery import app
from dressage.imports.models import Import

logger = structlog.get_logger(__name__)


def enqueue_import(row: Import) -> None:
    """Ask a worker, on commit, to go on with an import. It may be asked again at any time."""
    type(row).objects.filter(pk=row.pk).update(rung_at=Now())
    transaction.on_commit(partial(_send, row.task, row.pk))


def _send(task: str, import_id: str) -> None:
    try:
        app.send_task(task, kwargs={"import_id": import_id}, queue="platform", retry=False, ignore_result=True)
    except (OperationalError, OSError) as error:
        logger.warning("message lost", task=task, import_id=import_id, error=str(error))

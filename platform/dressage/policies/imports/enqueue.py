"""Messages to the platform's own worker about an import. A lost one only delays: the sweep sends it again."""

from functools import partial

import structlog
from django.db import transaction
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from dressage.celery import app
from dressage.policies.models import PolicyImport

logger = structlog.get_logger(__name__)
TASK = "policies.import"


def enqueue_import(row: PolicyImport) -> None:
    """Ask a worker, on commit, to go on with an import. It may be asked again at any time."""
    PolicyImport.objects.filter(pk=row.pk).update(rung_at=Now())
    transaction.on_commit(partial(_send, row.pk))


def _send(import_id: str) -> None:
    try:
        app.send_task(TASK, kwargs={"import_id": import_id}, queue="platform", retry=False, ignore_result=True)
    except (OperationalError, OSError) as error:
        logger.warning("message lost", task=TASK, policy_import=import_id, error=str(error))

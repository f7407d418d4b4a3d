"""Messages to the platform's own worker about a job. A lost one only delays: the sweep sends it again."""

from functools import partial

import structlog
from django.db import transaction
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from dressage.celery import app
from dressage.lab.models import LabJob

logger = structlog.get_logger(__name__)
TASK = "lab.job"


def enqueue_job(job: LabJob) -> None:
    """Ask a worker, on commit, to go on with a job. It may be asked again at any time."""
    LabJob.objects.filter(pk=job.pk).update(rung_at=Now())
    transaction.on_commit(partial(_send, job.pk))


def _send(job_id: str) -> None:
    try:
        app.send_task(TASK, kwargs={"job_id": job_id}, queue="platform", retry=False, ignore_result=True)
    except (OperationalError, OSError) as error:
        logger.warning("message lost", task=TASK, lab_job=job_id, error=str(error))

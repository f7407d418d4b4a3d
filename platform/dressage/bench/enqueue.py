"""Messages to the cluster about a bench job. A lost one only delays: the sweep sends it again."""

from functools import partial
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from dressage.celery import app
from dressage.rewards.models import BenchJob
from trainer_core.link import celery_queue

logger = structlog.get_logger(__name__)


def enqueue_bench(job: BenchJob) -> None:
    """Ask the cluster, on commit, to score a job. It may be asked again at any time; the message holds no secret."""
    BenchJob.objects.filter(pk=job.pk).update(rung_at=Now())
    arguments = {"job_id": job.id, "link_url": settings.LINK_URL}
    transaction.on_commit(partial(_send, arguments))


def _send(arguments: dict[str, Any]) -> None:
    try:
        app.send_task(celery_queue.BENCH, kwargs=arguments, queue=celery_queue.QUEUE, retry=False, ignore_result=True)
    except (OperationalError, OSError) as error:
        logger.warning("message lost", task=celery_queue.BENCH, job=arguments["job_id"], error=str(error))

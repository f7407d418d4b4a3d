"""Messages to the cluster about a job. A lost one only delays: the sweep sends it again."""

from functools import partial
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from dressage.celery import app
from dressage.clusters.selectors import cluster_names
from dressage.jobs.models import ClusterJob
from trainer_core.link import celery_queue

logger = structlog.get_logger(__name__)


def enqueue(job: ClusterJob) -> None:
    """Ask the cluster, on commit, to work on a job. It may be asked again at any time; the message holds no secret."""
    type(job).objects.filter(pk=job.pk).update(rung_at=Now())
    transaction.on_commit(partial(_send, job.task, {"job_id": job.id, "link_url": settings.LINK_URL}))


def _send(task: str, arguments: dict[str, Any]) -> None:
    try:
        # Jobs are done in minutes: they go to the first cluster.
        queue = celery_queue.queue_of(cluster_names()[0])
        app.send_task(task, kwargs=arguments, queue=queue, retry=False, ignore_result=True)
    except (OperationalError, OSError) as error:
        logger.warning("message lost", task=task, job=arguments["job_id"], error=str(error))

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
    """Ask the job's cluster, on commit, to work on it. It may be asked again at any time; the message holds no secret.

    Jobs from before clusters were chosen for them are asked of the first.
    """
    type(job).objects.filter(pk=job.pk).update(rung_at=Now())
    queue = celery_queue.queue_of(job.placed_on or cluster_names()[0])
    transaction.on_commit(partial(_send, job.task, queue, {"job_id": job.id, "link_url": settings.LINK_URL}))


def _send(task: str, queue: str, arguments: dict[str, Any]) -> None:
    try:
        app.send_task(task, kwargs=arguments, queue=queue, retry=False, ignore_result=True)
    except (OperationalError, OSError) as error:
        logger.warning("message lost", task=task, job=arguments["job_id"], error=str(error))

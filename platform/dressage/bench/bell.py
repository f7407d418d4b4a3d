"""Rings the cluster for a bench job. A lost message only delays: the sweep rings again."""

from functools import partial
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from dressage.bench.tokens import bench_token
from dressage.celery import app
from dressage.rewards.models import BenchJob
from trainer_core.link import ring

logger = structlog.get_logger(__name__)


def ring_bench(job: BenchJob) -> None:
    """Ask the cluster, on commit, to score a job. It may be asked again at any time."""
    BenchJob.objects.filter(pk=job.pk).update(rung_at=Now())
    arguments = {"job_id": job.id, "link_url": settings.LINK_URL, "token": bench_token(job.id)}
    transaction.on_commit(partial(_send, arguments))


def _send(arguments: dict[str, Any]) -> None:
    try:
        app.send_task(ring.BENCH, kwargs=arguments, queue=ring.QUEUE, retry=False, ignore_result=True)
    except (OperationalError, OSError) as error:
        logger.warning("message lost", task=ring.BENCH, job=arguments["job_id"], error=str(error))

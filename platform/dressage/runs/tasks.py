"""Celery tasks of the platform."""

import time
from typing import Any

import structlog
from celery import shared_task
from django.conf import settings
from redis import Redis
from redis.exceptions import RedisError

from dressage.common.redis_pool import SharedPool
from dressage.runs.facts.demand import ask_clusters as ask
from dressage.runs.sweep.reconcile import sweep
from dressage.runs.sweep.rolling import roll_up_all
from trainer_core.link.celery_queue import BEATS, BEATS_S, FROM_BEAT

logger = structlog.get_logger(__name__)


@shared_task(name="runs.reconcile", bind=True)
def reconcile(task: Any) -> None:
    """Sent by beat, and whenever a run is queued; may be repeated or run twice in parallel."""
    if FROM_BEAT in (task.request.headers or {}):
        note_beat(str(task.request.origin))
    sweep()


def note_beat(origin: str) -> None:
    """Record which process has sent a sweep, for the doctor: several beats would send each sweep several times."""
    now = time.time()
    try:
        with Redis(connection_pool=SharedPool.from_url(settings.REDIS_URL)).pipeline() as pipe:
            pipe.zadd(BEATS, {origin: now})
            pipe.zremrangebyscore(BEATS, "-inf", now - 10 * BEATS_S)
            pipe.execute()
    except (RedisError, OSError) as error:
        logger.warning("beat not noted", error=str(error))


@shared_task(name="runs.ask_clusters")
def ask_clusters() -> None:
    """Sent by beat; may be repeated or run twice in parallel."""
    ask()


@shared_task(name="runs.roll_up")
def roll_up() -> None:
    """Sent by beat; may be repeated or run twice in parallel."""
    roll_up_all()

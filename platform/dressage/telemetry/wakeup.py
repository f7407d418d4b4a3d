"""Wakes the streams when a run has changed. The message says nothing else: the facts are in the database.

A lost message, because Redis is down, only causes a delay: streams also check every two seconds.
"""

from functools import partial

import structlog
from django.conf import settings
from django.db import connection, transaction
from redis import Redis
from redis.exceptions import RedisError

from dressage.common.redis_pool import SharedPool

logger = structlog.get_logger(__name__)
CHANNEL = "dressage.wake"
"""Redis channel of all messages; each is "<id of the run> <id of its team>"."""


def wake_on_commit(run_id: str, team_id: str) -> None:
    """Wake the streams once after the current transaction commits, however often this is called in it."""
    wake = partial(_wake, run_id, team_id)
    waiting = (entry[1] for entry in connection.run_on_commit)
    if not any(isinstance(other, partial) and other.func is _wake and other.args == wake.args for other in waiting):
        transaction.on_commit(wake)


def _wake(run_id: str, team_id: str) -> None:
    try:
        Redis(connection_pool=SharedPool.from_url(settings.REDIS_URL)).publish(CHANNEL, f"{run_id} {team_id}")
    except (RedisError, OSError) as error:
        logger.warning("wake-up lost", run=run_id, error=str(error))

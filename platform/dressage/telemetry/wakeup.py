"""Wakes the consumers when a run has changed. The message says no more: the facts are in the database.

A message that is lost, because Redis is away or a buffer is full, only delays: consumers also look every two seconds.
"""

from functools import partial

import structlog
from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import connection, transaction
from redis.exceptions import RedisError

logger = structlog.get_logger(__name__)


def run_group(run_id: str) -> str:
    """Channels group of everyone who watches a run."""
    return f"run.{run_id}"


def team_group(team_id: str) -> str:
    """Channels group of everyone who watches the runs of a team."""
    return f"team.{team_id}"


def wake_on_commit(run_id: str, team_id: str) -> None:
    """Wake them once when the present transaction has committed, however often this is called in it."""
    wake = partial(_wake, run_id, team_id)
    waiting = (entry[1] for entry in connection.run_on_commit)
    if not any(isinstance(other, partial) and other.func is _wake and other.args == wake.args for other in waiting):
        transaction.on_commit(wake)


def _wake(run_id: str, team_id: str) -> None:
    try:
        async_to_sync(_send)(run_id, team_id)
    except (RedisError, OSError) as error:
        logger.warning("wake-up lost", run=run_id, error=str(error))


async def _send(run_id: str, team_id: str) -> None:
    layer = get_channel_layer()
    assert layer is not None, "the settings name a channel layer"
    await layer.group_send(run_group(run_id), {"type": "wake", "run_id": run_id})
    await layer.group_send(team_group(team_id), {"type": "wake", "run_id": run_id})

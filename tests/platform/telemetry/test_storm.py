"""Many browsers at once: none is lost, and Redis has no more connections than for one."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_thread
from django.conf import settings
from django.core.cache import cache
from redis import BlockingConnectionPool, Redis
from rest_framework.test import APIClient

from dressage.asgi import application
from dressage.common import redis_pool
from dressage.common.redis_pool import SharedPool
from dressage.monitoring.stream import run_consumer
from dressage.runs.models import Run
from tests.platform.telemetry.socket import ORIGIN, Socket, cookie
from tests.platform.telemetry.test_stream import emit, until
from tests.support.about import PLATFORM

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]
BROWSERS = 200


def subscriptions() -> int:
    """Subscribers of this process: others use the server with databases of their own."""
    redis = Redis.from_url(settings.REDIS_URL)
    own = str(redis.connection_pool.connection_kwargs["db"])
    return sum(client["db"] == own for client in redis.client_list(_type="pubsub"))


@pytest.mark.expensive(3, "stores and reads a long run", about=PLATFORM)
async def test_two_hundred_browsers_reconnect_at_once(
    make_run: Any, api: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    run: Run = await in_thread(make_run)()
    session = (b"cookie", cookie(await in_thread(api)("viewer")))
    reads: list[int] = []
    news = run_consumer.News
    monkeypatch.setattr(run_consumer, "News", lambda run_id, seq: reads.append(seq) or news(run_id, seq))
    sockets = [Socket(application, f"/ws/v1/runs/{run.id}", [ORIGIN, session]) for _ in range(BROWSERS)]
    assert all(await asyncio.gather(*(socket.connect() for socket in sockets)))
    hellos = await asyncio.gather(*(socket.receive_json() for socket in sockets))
    assert {hello["seq"] for hello in hellos} == {1}
    assert await asyncio.to_thread(subscriptions) == 1
    reads.clear()
    await in_thread(emit)(run)
    seen = await asyncio.gather(*(until(socket, 2) for socket in sockets))
    assert all(frames[-1]["events"][0]["seq"] == 2 for frames in seen)
    assert reads.count(1) < 10, "browsers that have seen the same share what is read"
    await asyncio.gather(*(socket.disconnect() for socket in sockets))
    while await asyncio.to_thread(subscriptions):
        await asyncio.sleep(0.01)  # waits: this is the poll of a condition


async def test_threads_wait_for_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_pool, "CONNECTIONS", 2)
    redis_pool._pool.cache_clear()
    pool = SharedPool.from_url(settings.REDIS_URL)
    assert pool.max_connections == 2
    try:
        redis = Redis(connection_pool=pool)
        answers = await asyncio.gather(*(asyncio.to_thread(redis.ping) for _ in range(50)))
        assert answers == [True] * 50
        assert len(pool._connections) <= 2
    finally:
        redis_pool._pool.cache_clear()


async def test_requests_that_come_first_together_have_the_same_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    requests = 5
    asked: list[None] = []
    made: list[BlockingConnectionPool] = []
    make = BlockingConnectionPool.__init__

    def pool_of_a_request() -> int:
        asked.append(None)
        return id(cache._cache._get_connection_pool(write=True))

    def make_once_all_have_asked(pool: BlockingConnectionPool, *args: Any, **options: Any) -> None:
        made.append(pool)
        while len(asked) < requests:
            time.sleep(0.001)  # waits: this is the poll of a condition
        make(pool, *args, **options)

    monkeypatch.setattr(BlockingConnectionPool, "__init__", make_once_all_have_asked)
    redis_pool._pool.cache_clear()
    try:
        pools = await asyncio.gather(*(asyncio.to_thread(pool_of_a_request) for _ in range(requests)))
        assert len(set(pools)) == len(made) == 1
    finally:
        redis_pool._pool.cache_clear()


async def test_redis_that_is_away_loses_a_message_and_no_more(
    make_run: Any, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    run: Run = await in_thread(make_run)()
    settings.REDIS_URL = "unix:///nowhere/redis.sock"
    await in_thread(emit)(run)
    await in_thread(run.refresh_from_db)()
    assert run.event_seq == 2

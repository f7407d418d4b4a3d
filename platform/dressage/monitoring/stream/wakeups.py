"""Messages that wake streams: one Redis subscription per process, however many browsers watch."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

import structlog
from django.conf import settings
from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from dressage.telemetry.wakeup import CHANNEL

logger = structlog.get_logger(__name__)
RETRY_S = 1.0
"""Time between two attempts to reach Redis. In the meantime, streams read the database every two seconds."""
_PING_S = 30.0
"""Silence after which Redis is pinged. After the same time without a response, the connection counts as lost."""


class Wakeups:
    """Listeners of each topic. The subscription lives while there is a listener."""

    def __init__(self) -> None:
        self._listeners: dict[str, set[asyncio.Event]] = {}
        self._rounds: dict[str, int] = {}
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def listening(self, topic: str, awake: asyncio.Event) -> Iterator[None]:
        """Set ``awake`` whenever the run or the team whose id is ``topic`` has changed."""
        self._listeners.setdefault(topic, set()).add(awake)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._subscribe())
        try:
            yield
        finally:
            listeners = self._listeners[topic]
            listeners.discard(awake)
            if not listeners:
                del self._listeners[topic]
                self._rounds.pop(topic, None)
            if not self._listeners and self._task is not None:
                self._task.cancel()
                self._task = None

    def round(self, topic: str) -> int:
        """Number of times ``topic`` has been woken: data that was read in an earlier round may be out of date."""
        return self._rounds.get(topic, 0)

    async def _subscribe(self) -> None:
        while True:
            try:
                async with Redis.from_url(settings.REDIS_URL, socket_timeout=None) as redis, redis.pubsub() as inbox:
                    await inbox.subscribe(CHANNEL)
                    await self._deliver(inbox)
            except (RedisError, OSError) as error:
                logger.warning("streams are not woken", error=str(error))
            await asyncio.sleep(RETRY_S)

    async def _deliver(self, inbox: PubSub) -> None:
        """Wake the listeners of each message. Raises RedisError if the connection is lost or has gone silent."""
        asked = False
        while True:
            message = await inbox.get_message(timeout=_PING_S)
            if message is None:
                if asked:
                    raise RedisConnectionError(f"Redis has not answered a ping for {_PING_S:g} s")
                await inbox.ping()
                asked = True
                continue
            asked = False
            if message["type"] == "subscribe":
                self._wake(*self._listeners)  # messages may have been missed while disconnected
            elif message["type"] == "message":
                self._wake(*message["data"].decode().split())

    def _wake(self, *topics: str) -> None:
        for topic in topics:
            if topic in self._listeners:
                self._rounds[topic] = self.round(topic) + 1
                for awake in self._listeners[topic]:
                    awake.set()


_of_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, Wakeups] = WeakKeyDictionary()


def wakeups() -> Wakeups:
    """The wake-ups of the running event loop."""
    return _of_loops.setdefault(asyncio.get_running_loop(), Wakeups())

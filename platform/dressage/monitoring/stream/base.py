"""Base of both consumers: admission, waking, pacing, pings.

One task per connection reads the database and sends. It is woken by a message, and every two seconds in any case. A
client that reads slowly is sent less often and then more at once: nothing is queued for it in memory.
"""

import asyncio
import contextlib
import time
from functools import partial
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer

from dressage.monitoring.stream.access import Watcher, identify, still_allowed

_in_thread = partial(database_sync_to_async, thread_sensitive=False)
"""Reads the database in a thread of the pool: by default all connections of a process would share one thread."""
NOT_SIGNED_IN, REVOKED, NO_SUCH_RUN, BAD_REQUEST = 4401, 4403, 4404, 4400
FRAME_S = 0.25
"""Shortest time between two frames."""
POLL_S = 2.0
"""Longest time between two looks into the database."""
PING_S = 15.0
YOUNG_S = 2.0
"""Age up to which the channel layer may still be connecting to Redis for a connection of ours."""


class StreamConsumer(AsyncJsonWebsocketConsumer):
    """Subclasses implement ``open`` and ``frames``."""

    watcher: Watcher
    more: bool
    """Set by ``frames`` when it has left something for the next round."""
    _pump: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        self._since = time.monotonic()
        # Accepted first, so that browsers get to see why they are refused.
        await self.accept()
        watcher = await _in_thread(identify)(self.scope)
        if watcher is None:
            await self.close(NOT_SIGNED_IN)
            return
        self.watcher = watcher
        self._awake = asyncio.Event()
        self.more = False
        code = await _in_thread(self.open)()
        if code is not None:
            await self.close(code)
            return
        await self.channel_layer.group_add(self.group(), self.channel_name)
        self._pump = asyncio.create_task(self._run())

    async def disconnect(self, code: int) -> None:
        if self._pump is not None:
            self._pump.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._pump
            await self.channel_layer.group_discard(self.group(), self.channel_name)
        if time.monotonic() - self._since < YOUNG_S:
            # redis-py loses a cancellation that comes while it connects, and the layer would go on reading this
            # channel for ever. A message lets that read end.
            await self.channel_layer.send(self.channel_name, {"type": "wake", "run_id": ""})

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any) -> None:
        """Nothing travels up: commands are REST calls, so that they are authorised, idempotent and audited."""

    async def wake(self, message: dict[str, Any]) -> None:
        """Note that there may be something new."""
        self.woken(message)
        self._awake.set()

    def group(self) -> str:
        """Channels group whose messages wake this consumer."""
        raise NotImplementedError

    def open(self) -> int | None:
        """Prepare, in a thread with the database. Returns a close code to refuse."""
        raise NotImplementedError

    def frames(self) -> list[dict[str, Any]]:
        """Frames that are new since the last call, made in a thread with the database."""
        raise NotImplementedError

    def woken(self, message: dict[str, Any]) -> None:
        """Take note of what the message says."""

    async def _run(self) -> None:
        sent = time.monotonic()
        while True:
            self._awake.clear()
            frames = await _in_thread(self._look)()
            if frames is None:
                await self.close(REVOKED)
                return
            for frame in frames:
                await self.send_json(frame)
            now = time.monotonic()
            if frames:
                sent = now
            elif now - sent >= PING_S:
                await self.send_json({"type": "ping"})
                sent = now
            await asyncio.sleep(FRAME_S)
            if self.more:
                continue
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._awake.wait(), POLL_S - FRAME_S)

    def _look(self) -> list[dict[str, Any]] | None:
        return self.frames() if still_allowed(self.watcher) else None

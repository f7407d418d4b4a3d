"""Base of both consumers: admission, wake-ups, pacing, pings.

One task per connection reads the database and sends. A message wakes it, and so does a timer every two seconds. A
client that reads slowly gets fewer but larger messages: nothing is queued for it in memory, and no other client waits
for it.
"""

import asyncio
import contextlib
import time
from abc import ABC, abstractmethod
from typing import Any

import structlog
from channels.generic.websocket import AsyncWebsocketConsumer

from dressage.monitoring.stream.access import PasswordIsTemporary, Watcher, identify, still_allowed
from dressage.monitoring.stream.shared import in_thread
from dressage.monitoring.stream.wakeups import wakeups

logger = structlog.get_logger(__name__)
NOT_SIGNED_IN, REVOKED, NOT_FOUND, BAD_REQUEST = 4401, 4403, 4404, 4400
FAILED = 1011
"""Close code after a fault of ours, such as a database that is down: the client reconnects and resumes."""
FRAME_S = 0.25
"""Minimum time between two frames."""
POLL_S = 2.0
"""Maximum time between two checks of the database."""
PING_S = 15.0
_PING = '{"type": "ping"}'


class StreamConsumer(AsyncWebsocketConsumer, ABC):
    """Subclasses define what is watched, and what is new."""

    watcher: Watcher
    more: bool
    """Set by ``frames`` when it has left something for the next round."""
    _pump: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        # Accepted first, so that browsers learn why they are refused.
        await self.accept()
        try:
            watcher = await in_thread(identify)(self.scope)
        except PasswordIsTemporary as refusal:
            await self.close(REVOKED, str(refusal))
            return
        if watcher is None:
            await self.close(NOT_SIGNED_IN)
            return
        self.watcher = watcher
        self.more = False
        code = await in_thread(self.open)()
        if code is not None:
            await self.close(code)
            return
        self._pump = asyncio.create_task(self._run())

    async def disconnect(self, code: int) -> None:
        if self._pump is not None:
            self._pump.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._pump

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any) -> None:
        """Clients send nothing: commands are REST calls, so that they are authorised, idempotent and audited."""

    @abstractmethod
    def topic(self) -> str:
        """Id of the run or the team whose messages wake this consumer."""

    @abstractmethod
    def open(self) -> int | None:
        """Prepare, in a thread with access to the database. Returns a close code to refuse the connection."""

    @abstractmethod
    async def frames(self) -> list[str]:
        """Frames, as JSON, that are new since the last call."""

    async def _run(self) -> None:
        sent = time.monotonic()
        awake = asyncio.Event()
        with wakeups().listening(self.topic(), awake):
            while True:
                awake.clear()
                try:
                    allowed = await in_thread(still_allowed)(self.watcher)
                    frames = await self.frames() if allowed else []
                except Exception:
                    logger.exception("a stream is closed: its new frames cannot be read", topic=self.topic())
                    await self.close(FAILED)
                    return
                if not allowed:
                    await self.close(REVOKED)
                    return
                for frame in frames:
                    await self.send(frame)
                now = time.monotonic()
                if frames:
                    sent = now
                elif now - sent >= PING_S:
                    await self.send(_PING)
                    sent = now
                await asyncio.sleep(FRAME_S)
                if self.more:
                    continue
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(awake.wait(), POLL_S - FRAME_S)

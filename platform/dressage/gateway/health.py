"""Health of one web process, for probes: ``/health/live`` and ``/health/ready``.

They are answered before Django: a probe uses any host name, comes without TLS, and must not wait for users' requests.

- **live**: the process responds. One that does not should be restarted.
- **ready**: it can do its work: database and Redis respond, and every migration that this release knows is applied.
  Additional ones are no fault: during an upgrade, the previous release works with the new tables.

Responses describe the fault in a sentence, without addresses; the log has the error.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import structlog
from channels.db import database_sync_to_async
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from redis import Redis
from redis.exceptions import RedisError

from dressage.common.redis_pool import SharedPool

logger = structlog.get_logger(__name__)
Send = Callable[[Mapping[str, Any]], Awaitable[None]]
LIVE, READY = "/health/live", "/health/ready"
FRESH_S = 1.0
"""Seconds for which a result serves further probes: strangers may probe as often as they like."""
PATIENCE_S = 5.0
"""Time after which a part that does not respond counts as down."""


class Health:
    """Answers the two addresses, and passes everything else on."""

    def __init__(self, application: Callable[..., Awaitable[Any]]) -> None:
        self._application = application
        self._found: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Task[dict[str, str]]] = WeakKeyDictionary()

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Send) -> None:
        if scope["path"] == LIVE:
            # The scheme shows whether a TLS proxy in front is trusted; see the doctor.
            await _answer(send, 200, {"status": "live", "scheme": scope.get("scheme", "http")})
        elif scope["path"] == READY:
            checks = await self._checks()
            ready = set(checks.values()) == {"ok"}
            await _answer(send, 200 if ready else 503, {"status": "ready" if ready else "not ready", "checks": checks})
        else:
            await self._application(scope, receive, send)

    async def _checks(self) -> dict[str, str]:
        """The current state, cached for a moment; many concurrent probes run one check."""
        loop = asyncio.get_running_loop()
        if loop not in self._found:
            self._found[loop] = task = asyncio.create_task(self._look())
            task.add_done_callback(lambda _: loop.call_later(FRESH_S, self._found.pop, loop, None))
        return await asyncio.shield(self._found[loop])

    async def _look(self) -> dict[str, str]:
        look = asyncio.gather(
            _in_time("database", database_sync_to_async(_database, thread_sensitive=False)()),
            _in_time("redis", asyncio.to_thread(_redis)),
        )
        found: dict[str, str] = {}
        for part in await look:
            found |= part
        return found


async def _in_time(name: str, look: Awaitable[dict[str, str]]) -> dict[str, str]:
    try:
        return await asyncio.wait_for(look, PATIENCE_S)
    except TimeoutError:
        return {name: f"no answer within {PATIENCE_S:g} s"}


def _database() -> dict[str, str]:
    try:
        applied = set(MigrationRecorder(connection).applied_migrations())
    except DatabaseError as error:
        logger.warning("not ready: the database cannot be read", error=str(error).strip())
        return {"database": "cannot be reached", "migrations": "not known"}
    missing = len(known_migrations() - applied)
    return {"database": "ok", "migrations": f"{missing} missing: run manage.py migrate" if missing else "ok"}


def _redis() -> dict[str, str]:
    try:
        Redis(connection_pool=SharedPool.from_url(settings.REDIS_URL)).ping()
    except (RedisError, OSError) as error:
        logger.warning("not ready: Redis does not answer", error=str(error))
        return {"redis": "cannot be reached"}
    return {"redis": "ok"}


@cache
def known_migrations() -> frozenset[tuple[str, str]]:
    """(app, name) of every migration of this release."""
    return frozenset(MigrationLoader(None).disk_migrations)


async def _answer(send: Send, status: int, body: dict[str, Any]) -> None:
    headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(body).encode() + b"\n"})

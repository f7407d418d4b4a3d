"""What the web process keeps of browsers that have left: nothing.

``make bench`` shows it for a whole process, with requests and over a day (``tests/bench/load_streams.py``).
"""

import asyncio
import gc
from collections.abc import Callable
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_thread
from rest_framework.test import APIClient

from dressage.asgi import application
from dressage.monitoring.stream import shared
from dressage.monitoring.stream.base import StreamConsumer
from dressage.monitoring.stream.wakeups import wakeups
from dressage.runs.models import Run
from tests.platform.telemetry.socket import ORIGIN, Socket, cookie
from tests.platform.telemetry.test_stream import emit
from tests.support.about import PLATFORM

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]
AT_ONCE, WARM, MEASURED = 10, 3, 5
"""Browsers that come at once, and how many times they come and go before and while objects are counted."""
KEPT_OBJECTS = 5
"""Objects for each browser by which their number may grow: what is kept of one by mistake has dozens."""


async def come_and_go(client: APIClient, run: Run) -> None:
    """Open streams, be woken, and leave: some at once, in the midst of a message."""
    session = (b"cookie", cookie(client))
    sockets = [Socket(application, f"/ws/v1/runs/{run.id}", [ORIGIN, session]) for _ in range(AT_ONCE)]
    await asyncio.gather(*(socket.connect() for socket in sockets))
    await asyncio.gather(*(socket.disconnect() for socket in sockets[:3]))
    await asyncio.gather(*(socket.receive_json() for socket in sockets[3:]))
    await in_thread(emit)(run)
    await asyncio.gather(*(socket.disconnect() for socket in sockets[3:]))


async def objects() -> int:
    """Objects that are alive when everything has come to rest."""
    while len(asyncio.all_tasks()) > 1 or shared._of_loops[asyncio.get_running_loop()]:
        await asyncio.sleep(0.01)
    gc.collect()
    return len(gc.get_objects())


@pytest.mark.expensive(10, "stores and reads a long run", about=PLATFORM)
async def test_memory_does_not_grow_with_the_browsers_that_come_and_go(
    make_run: Any, api: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared, "FRESH_S", 0.01)
    run: Run = await in_thread(make_run)()
    client = await in_thread(api)("viewer")
    for _ in range(WARM):
        await come_and_go(client, run)
    before = await objects()
    for _ in range(MEASURED):
        await come_and_go(client, run)
    grown = await objects() - before
    assert grown < KEPT_OBJECTS * AT_ONCE * MEASURED
    # Asked of the type: lazy objects of Django load what they stand for when they are asked.
    assert not any(issubclass(type(one), StreamConsumer) for one in gc.get_objects())
    assert not wakeups()._listeners and not wakeups()._rounds

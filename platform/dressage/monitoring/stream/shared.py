"""Database reads that many streams want at the same time: one is made, and all get its result."""

import asyncio
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from channels.db import database_sync_to_async

T = TypeVar("T")
in_thread = partial(database_sync_to_async, thread_sensitive=False)
"""Reads the database in a thread of the pool: by default all connections of a process would share one thread."""
FRESH_S = 0.5
"""Seconds from its start for which a read is shared."""

_of_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Hashable, asyncio.Task[Any]]] = WeakKeyDictionary()


async def shared(key: Hashable, read: Callable[[], T]) -> T:
    """Return what ``read`` returns; callers with the same key within ``FRESH_S`` get the same object.

    Callers must not modify it. The key must include what was known at the time of the call: see ``Wakeups.round``.
    """
    loop = asyncio.get_running_loop()
    reads = _of_loops.setdefault(loop, {})
    task = reads.get(key)
    if task is None:
        task = reads[key] = asyncio.create_task(in_thread(read)())
        loop.call_later(FRESH_S, reads.pop, key)
    # Shielded: one client that disconnects must not cancel the read of the others.
    return await asyncio.shield(task)

"""Reads of the database that many streams want at the same time: one is made, and all get its result."""

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
"""Time from its beginning for which a read serves others."""

_of_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Hashable, asyncio.Task[Any]]] = WeakKeyDictionary()


async def shared(key: Hashable, read: Callable[[], T]) -> T:
    """Return what ``read`` returns; who asks with the same key within ``FRESH_S`` gets the same object.

    Nobody may change it. The key has to tell what was known when it was asked: see ``Wakeups.round``.
    """
    loop = asyncio.get_running_loop()
    reads = _of_loops.setdefault(loop, {})
    task = reads.get(key)
    if task is None:
        task = reads[key] = asyncio.create_task(in_thread(read)())
        loop.call_later(FRESH_S, reads.pop, key)
    # Shielded: one browser that leaves must not end the read of the others.
    return await asyncio.shield(task)

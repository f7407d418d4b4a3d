"""Connections to Redis: one pool for a process, of a stated size, in which callers wait for their turn."""

from functools import cache
from threading import Lock
from typing import Any

from redis import BlockingConnectionPool

CONNECTIONS = 16
"""Connections of one process. A call takes about a millisecond, so that few serve many."""
PATIENCE_S = 5.0
"""Time to wait for a connection; after it redis-py's ConnectionError, which is answered 503."""


class SharedPool(BlockingConnectionPool):
    """The process's pool. Django makes a cache for each request, and each would have a pool of its own."""

    @classmethod
    def from_url(cls, url: str, **options: Any) -> "SharedPool":
        """The pool of that address; made at the first call."""
        with _one_at_a_time:
            return _pool(url, **options)


_one_at_a_time = Lock()
"""`cache` alone lets threads that come first together make a pool each."""


@cache
def _pool(url: str, **options: Any) -> SharedPool:
    # The base's method makes what it is called on.
    made: SharedPool = super(SharedPool, SharedPool).from_url(
        url, max_connections=CONNECTIONS, timeout=PATIENCE_S, **options
    )
    return made

"""Connections to Redis: one pool per process, of fixed size, in which callers wait for their turn."""

from functools import cache
from threading import Lock
from typing import Any

from redis import BlockingConnectionPool

CONNECTIONS = 16
"""Connections per process. A call takes about a millisecond, so a few serve many."""
PATIENCE_S = 5.0
"""Time to wait for a connection, followed by redis-py's ConnectionError, which is answered with 503."""


class SharedPool(BlockingConnectionPool):
    """The process's pool. Django creates a cache for each request, and each would have a pool of its own."""

    @classmethod
    def from_url(cls, url: str, **options: Any) -> "SharedPool":
        """The pool for that address; created on the first call."""
        with _one_at_a_time:
            return _pool(url, **options)


_one_at_a_time = Lock()
"""`cache` alone lets concurrent first calls create a pool each."""


@cache
def _pool(url: str, **options: Any) -> SharedPool:
    # The base's method instantiates the class that it is called on.
    made: SharedPool = super(SharedPool, SharedPool).from_url(
        url, max_connections=CONNECTIONS, timeout=PATIENCE_S, **options
    )
    return made

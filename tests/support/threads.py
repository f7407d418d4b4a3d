"""Threads that a piece of code begins, whatever else runs in the process."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch


@contextmanager
def threads_begun() -> Iterator[Callable[[], list[str]]]:
    """Names of the threads that still run: of those that this thread begins in the block, and that these begin."""
    this = threading.current_thread()
    ours = {this}
    start = threading.Thread.start

    def recorded(thread: threading.Thread) -> None:
        if threading.current_thread() in ours:
            ours.add(thread)
        start(thread)

    with patch.object(threading.Thread, "start", recorded):
        yield lambda: sorted(thread.name for thread in ours - {this} if thread.is_alive())

"""Time and memory of a part of a process's work."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

MIB = 1 << 20


@contextmanager
def watched(seconds: list[float], peaks: list[float]) -> Iterator[None]:
    """Note how long it takes, and by how much this process's own memory rises in between."""
    before, highest, done = _own_memory(), 0, threading.Event()

    def watch() -> None:
        nonlocal highest
        while not done.wait(0.002):
            highest = max(highest, _own_memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    started = time.perf_counter()
    try:
        yield
    finally:
        seconds.append(time.perf_counter() - started)
        done.set()
        watcher.join()
        peaks.append(max(0, highest - before) / MIB)


def _own_memory() -> int:
    with open(f"/proc/{os.getpid()}/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("RssAnon"))

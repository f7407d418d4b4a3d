"""A process that gets a small share of a processor, without any load: it is stopped most of the time."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_STOPPED_S, _RUNNING_S = 0.02, 0.002


@contextmanager
def slowed(process: int) -> Iterator[None]:
    """While open, the process with this id runs a tenth of the time, as beside busy ones. It may end meanwhile."""
    ended = threading.Event()

    def stop_and_go() -> None:
        with contextlib.suppress(ProcessLookupError):
            while not ended.is_set():
                os.kill(process, signal.SIGSTOP)
                ended.wait(_STOPPED_S)
                os.kill(process, signal.SIGCONT)
                ended.wait(_RUNNING_S)

    thread = threading.Thread(target=stop_and_go, name="slowed", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()

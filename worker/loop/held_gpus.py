"""HeldGpus: reports to the platform how many GPUs an attempt holds, from start to end."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

log = logging.getLogger(__name__)

LOOK_EVERY_S = 2.0
"""Seconds between two looks at the cluster. A team's charge may be off by this much at each change."""


class HeldGpus:
    """A thread that polls the attempt's reservations until it is closed."""

    def __init__(self, held: Callable[[], float], tell: Callable[[float], None]) -> None:
        """Start polling.

        Args:
            held: returns the GPUs that the attempt holds now.
            tell: called with that number whenever it may have changed.
        """
        self._held, self._tell = held, tell
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="gpus", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop polling and report 0 GPUs. Call it when the attempt holds none."""
        self._closed.set()
        self._thread.join()
        self._tell(0.0)

    def _follow(self) -> None:
        while not self._closed.wait(LOOK_EVERY_S):
            try:
                self._tell(self._held())
            except Exception as error:  # Ray's head is unreachable: the last report stays
                log.warning("the held GPUs cannot be counted: %s", error)

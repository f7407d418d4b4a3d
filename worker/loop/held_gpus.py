"""HeldGpus: tells the platform how many GPUs an attempt holds, from its first moment to its last."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

log = logging.getLogger(__name__)

LOOK_EVERY_S = 2.0
"""Seconds between two looks at the cluster: by so much may what a team is charged be wrong at each change."""


class HeldGpus:
    """A thread that looks at the attempt's reservations until it is closed."""

    def __init__(self, held: Callable[[], float], tell: Callable[[float], None]) -> None:
        """Begin to look.

        Args:
            held: GPUs that the attempt holds now.
            tell: told them whenever that may have changed.
        """
        self._held, self._tell = held, tell
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="gpus", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End. To be called once the attempt holds nothing: that is told."""
        self._closed.set()
        self._thread.join()
        self._tell(0.0)

    def _follow(self) -> None:
        while not self._closed.wait(LOOK_EVERY_S):
            try:
                self._tell(self._held())
            except Exception as error:  # Ray's head is away: what was told last stays
                log.warning("the GPUs that are held cannot be counted: %s", error)

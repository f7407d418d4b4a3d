"""Stopwatch: how long something has been running in total."""

from __future__ import annotations

import time


class Stopwatch:
    """Adds up the periods during which it was on. Not thread-safe: the owner must lock."""

    def __init__(self) -> None:
        self._total = 0.0
        self._since: float | None = None

    def turn(self, on: bool) -> None:
        """Turn it on or off from now on."""
        now = time.perf_counter()
        if self._since is not None:
            self._total += now - self._since
        self._since = now if on else None

    @property
    def seconds(self) -> float:
        """Seconds so far, including the current period."""
        return self._total + (0.0 if self._since is None else time.perf_counter() - self._since)

"""Limit on how many sequences run at the same time: the KV cache is full, but no sequence is evicted from it.

A preempted sequence recomputes its whole prefix. Once the cache is full, more concurrency makes generation slower. That
point depends on sequence lengths, which are not known in advance.
Source: CoPRIS (arXiv 2511.05589) keeps the number of running sequences constant. Here additive increase and
multiplicative decrease (Chiu and Jain 1989) find that number.
"""

from __future__ import annotations

from dataclasses import dataclass

from worker.engine.types import ConcurrencyConfig


@dataclass(frozen=True, slots=True)
class CacheLoad:
    """Load of the KV cache, as the controller reads it."""

    running: int
    waiting: int
    finished: int
    """Sequences that ended since start."""
    kv_usage: float
    """Share of the KV cache in use, in [0, 1]."""
    preemptions: int
    """Sequences evicted from the full cache since start."""


class ConcurrencyController:
    """Moves the limit on running sequences between 1 and `most`.

    A sequence needs more cache the longer it runs, so the limit rises in rounds. A round ends when as many sequences
    have finished as may run. It is quiet if the cache never reached the target during it.
    """

    def __init__(self, options: ConcurrencyConfig, *, most: int) -> None:
        self._options = options
        self._most = most
        self._preemptions = 0
        self._round_start = 0
        self._peak = 0.0
        self.limit = most

    def update(self, load: CacheLoad) -> int:
        """Adjust the limit to the load and return it. Call this every few engine steps."""
        congested = load.preemptions > self._preemptions
        self._preemptions = load.preemptions
        self._peak = max(self._peak, load.kv_usage)
        if congested:
            # Sequences above the limit keep running until they end: one congestion lowers the limit once, not at every
            # update.
            if load.running <= self.limit:
                self.limit = max(1, int(load.running * self._options.decrease))
            self._begin_round(load)
        elif load.finished - self._round_start >= self.limit:
            binding = load.waiting > 0 and load.running >= self.limit
            if binding and self._peak < self._options.kv_target:
                self.limit = min(self._most, self.limit + self._options.increase)
            self._begin_round(load)
        return self.limit

    def _begin_round(self, load: CacheLoad) -> None:
        self._round_start = load.finished
        self._peak = load.kv_usage

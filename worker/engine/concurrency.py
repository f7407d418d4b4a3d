"""Control of how many sequences may run at once, so that the KV cache is full but nobody is thrown out of it.

A preempted sequence computes its whole prefix again: past the point where the cache is full, more concurrency makes
generation slower. Where that point lies depends on lengths that nobody knows beforehand.
Source: CoPRIS (arXiv 2511.05589) keeps the number of running sequences constant; here additive increase and
multiplicative decrease (Chiu and Jain 1989) find it.
"""

from __future__ import annotations

from dataclasses import dataclass

from worker.engine.types import ConcurrencyConfig


@dataclass(frozen=True, slots=True)
class CacheLoad:
    """Load of the KV cache, at which the controller looks."""

    running: int
    waiting: int
    finished: int
    """Sequences that ended since start."""
    kv_usage: float
    """Share of the KV cache in use, in [0, 1]."""
    preemptions: int
    """Sequences thrown out of the full cache since start."""


class ConcurrencyController:
    """Moves the limit on running sequences between 1 and `most`.

    A sequence needs more of the cache the longer it lives, so the limit rises by rounds: one is over when as many
    sequences have ended as may run, and counts as quiet when the cache never came to the target in it.
    """

    def __init__(self, options: ConcurrencyConfig, *, most: int) -> None:
        self._options = options
        self._most = most
        self._preemptions = 0
        self._round_start = 0
        self._peak = 0.0
        self.limit = most

    def update(self, load: CacheLoad) -> int:
        """Look at the load and move the limit; to be called every few engine steps. Returns the limit."""
        congested = load.preemptions > self._preemptions
        self._preemptions = load.preemptions
        self._peak = max(self._peak, load.kv_usage)
        if congested:
            # Sequences above the limit run on until they end: one congestion is answered once, not at every look.
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

"""Detect degenerate completions during sampling: runs of near-certain tokens, and loops of one n-gram.

Both depend only on the completion so far, so a parked request stops at the same token as an uninterrupted one. Pure
Python on lists, constant time per token on average: the engine calls it once per token.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from worker.engine.types import NgramLoop, Sampling


class RepetitionWatch:
    """State of one request, built from what it has already generated (empty lists for a new one)."""

    __slots__ = ("_floor", "_loop", "_needed", "_run")

    def __init__(
        self, sampling: Sampling, token_ids: Sequence[int], logprobs: Sequence[float], sampled: Sequence[bool]
    ) -> None:
        run = sampling.probability_run
        self._needed = run.tokens if run is not None else 0
        self._floor = math.log(run.probability) if run is not None else 0.0
        self._run = 0
        for logprob, by_policy in zip(logprobs, sampled, strict=True):
            self._run = self._run + 1 if by_policy and logprob > self._floor else 0
        self._loop = None if sampling.ngram_loop is None else LoopWatch(sampling.ngram_loop, token_ids)

    def feed(self, token_ids: list[int], logprob: float) -> bool:
        """Account for the sampled last token of `token_ids` (the completion so far). Returns whether to stop."""
        self._run = self._run + 1 if logprob > self._floor else 0
        if self._needed and self._run >= self._needed:
            return True
        return self._loop is not None and self._loop.feed(token_ids)

    def interrupt(self, token_ids: list[int], count: int) -> None:
        """Account for `count` forced tokens at the end of `token_ids`: their certainty means nothing."""
        self._run = 0
        if self._loop is not None:
            for end in range(len(token_ids) - count + 1, len(token_ids) + 1):
                self._loop.feed(token_ids[:end])


class LoopWatch:
    """Whether the last size x repeats tokens have a period of at most `size`.

    A loop of period p <= size holds for more than 2 x size tokens before it is reported. Among its last `size` tokens
    and the p before them, the smallest period that fits divides p (Fine and Wilf 1965), so one search every `size`
    tokens finds it in time. Between searches there is only one candidate to follow.
    """

    __slots__ = ("_period", "_run", "_size", "_window")

    def __init__(self, loop: NgramLoop, token_ids: Sequence[int]) -> None:
        self._size = loop.size
        self._window = loop.size * loop.repeats
        self._period = 0  # candidate; 0 means none
        self._run = 0  # trailing tokens that equal the one a period before
        self._search(list(token_ids))

    def feed(self, token_ids: list[int]) -> bool:
        """Account for the last token of `token_ids`. Returns whether a loop has filled its window."""
        if self._period:
            if token_ids[-1] == token_ids[-1 - self._period]:
                self._run += 1
            else:
                self._period = 0
        if not self._period and len(token_ids) % self._size == 0:
            self._search(token_ids)
        return self._period > 0 and self._run + self._period >= self._window

    def _search(self, token_ids: list[int]) -> None:
        size, length = self._size, len(token_ids)
        tail = token_ids[length - size :] if length > size else []
        for period in range(1, min(size, length - size) + 1):
            if token_ids[-1 - period] == tail[-1] and token_ids[length - size - period : length - period] == tail:
                self._period = period
                break
        else:
            return
        self._run = size
        while (before := length - self._run - 1) >= self._period:
            if token_ids[before] != token_ids[before - self._period]:
                break
            self._run += 1

"""The most likely tokens of one unfinished request, step by step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from worker.engine.types import TopTokens


class TopRecorder:
    """Collects rows in vLLM's format: the sampled token first, then the most likely ones in descending order."""

    __slots__ = ("_ids", "_logprobs", "_size")

    def __init__(self, size: int, prefix: TopTokens | None, length: int) -> None:
        """Start with the rows of a parked request, or with zeros for its ``length`` tokens."""
        self._size = size
        self._ids: list[NDArray[np.int32]] = []
        self._logprobs: list[NDArray[np.float32]] = []
        if prefix is not None:
            self._ids, self._logprobs = list(prefix.token_ids), list(prefix.logprobs)
        else:
            self.skip(length)

    def feed(self, token_ids: NDArray[np.integer], logprobs: NDArray[np.floating]) -> None:
        """Account for one sampled token: its row of ids and log-probabilities, shape [1 + at least K]."""
        self._ids.append(token_ids[1 : self._size + 1].astype(np.int32))
        self._logprobs.append(logprobs[1 : self._size + 1].astype(np.float32))

    def skip(self, count: int) -> None:
        """Account for forced tokens."""
        self._ids += [np.zeros(self._size, np.int32)] * count
        self._logprobs += [np.zeros(self._size, np.float32)] * count

    def tokens(self, start: int = 0) -> TopTokens:
        """All rows so far, from row ``start`` on."""
        rows = list(zip(self._ids[start:], self._logprobs[start:], strict=True))
        shape = (len(rows), self._size)
        ids, logprobs = np.zeros(shape, np.int32), np.zeros(shape, np.float32)
        for row, (some, values) in enumerate(rows):
            ids[row], logprobs[row] = some, values
        return TopTokens(ids, logprobs)

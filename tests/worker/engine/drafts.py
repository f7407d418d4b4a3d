"""Drafts for the engine tests: forced ones, whatever they cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from worker.engine import InferenceEngine
from worker.engine.speculation.speculator import Speculator
from worker.engine.types import SpeculationStats

Guess = Callable[[str, int], list[int]]
"""Tokens to draft for a request after so many tokens of its answer."""


class ForcedDrafts(Speculator):
    """Drafts what it is told at every step."""

    def __init__(self, guess: Guess) -> None:
        super().__init__()
        self._guess = guess
        self.proposed: dict[str, list[int]] = {}
        self.drafted = self.accepted = 0

    @property
    def stats(self) -> SpeculationStats:
        """Totals since the start."""
        return SpeculationStats(drafted=self.drafted, accepted=self.accepted)

    def propose(self, requests: Sequence[Any], *, most_tokens: int, max_model_len: int) -> dict[str, list[int]]:
        """Implements ``Speculator.propose``."""
        self.proposed = {}
        for request in requests:
            answer = self._library._answers.get(request.request_id.partition("\x00")[0])
            if answer is None:
                continue
            left = min(request.max_tokens - len(request._output_token_ids), max_model_len - len(request._all_token_ids))
            tokens = self._guess(request.request_id.partition("\x00")[0], len(answer.tokens))[: left - 1]
            if tokens:
                self.proposed[request.request_id] = tokens
        return self.proposed

    def observe(self, seconds: float, sampled: dict[str, int] | None) -> None:
        """Implements ``Speculator.observe``."""
        for request_id, tokens in self.proposed.items():
            if sampled:
                self.drafted += len(tokens)
                self.accepted += sampled[request_id] - 1
        self.proposed = {}


@contextmanager
def speculating(engine: InferenceEngine, speculator: Speculator | None) -> Iterator[None]:
    """Let ``engine`` draft by ``speculator`` meanwhile."""
    before = engine._speculator
    engine._speculator = engine._core.scheduler.speculator = speculator
    try:
        yield
    finally:
        engine._speculator = engine._core.scheduler.speculator = before


def chi_squared(counts: np.ndarray, law: np.ndarray) -> float:
    """p-value of Pearson's test that ``counts`` were drawn by ``law``; 0 where something came that cannot come."""
    possible = law > 0
    if counts[~possible].any():
        return 0.0
    if possible.sum() == 1:
        return 1.0
    expected = counts.sum() * law[possible]
    statistic = ((counts[possible] - expected) ** 2 / expected).sum()
    half = torch.tensor([(possible.sum() - 1) / 2, statistic / 2], dtype=torch.float64)
    return float(torch.special.gammaincc(half[0], half[1]))

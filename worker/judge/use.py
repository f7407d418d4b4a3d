"""Use of judges: questions, time and cost; and of the jails: how test modules were decided."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from trainer_core.link.judge import JudgeEndpoint
from trainer_core.link.judge_chat import Answer


@dataclass(slots=True)
class Use:
    """Totals that can be added up. Sent between processes."""

    calls: int = 0
    """Questions answered, cached ones included."""
    cached: int = 0
    errors: int = 0
    """Questions without an answer, after all retries."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    """Answers from endpoints with an unknown price."""
    seconds: list[float] = field(default_factory=list)
    """Seconds for each answer that was not cached, from the first try on."""
    repeat: tuple[float, int] = (0.0, 0)
    """Agreement of answers at different seeds: sum and count."""
    swap: tuple[float, int] = (0.0, 0)
    """Agreement of answers in different orders: sum and count."""
    fast_modules: int = 0
    """Modules of unittest or pytest that were run without pytest."""
    slow_modules: int = 0
    """Those that pytest itself decided."""

    def add(self, other: Use) -> None:
        """Add another's totals."""
        self.calls += other.calls
        self.cached += other.cached
        self.errors += other.errors
        self.prompt_tokens += other.prompt_tokens
        self.completion_tokens += other.completion_tokens
        self.cost += other.cost
        self.unpriced += other.unpriced
        self.seconds += other.seconds
        self.repeat = self.repeat[0] + other.repeat[0], self.repeat[1] + other.repeat[1]
        self.swap = self.swap[0] + other.swap[0], self.swap[1] + other.swap[1]
        self.fast_modules += other.fast_modules
        self.slow_modules += other.slow_modules

    def quantile(self, share: float) -> float | None:
        """Seconds within which this share of the answers arrived; None without answers."""
        return float(np.quantile(self.seconds, share)) if self.seconds else None

    @property
    def known_cost(self) -> float | None:
        """None if any answer's price is unknown."""
        return None if self.unpriced else self.cost


class Tally:
    """Counts a client's use. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._use = Use()

    def answered(self, endpoint: JudgeEndpoint, answer: Answer, seconds: float) -> None:
        """Count an answer from an endpoint."""
        priced = endpoint.price_prompt is not None and endpoint.price_completion is not None
        cost = (
            answer.prompt_tokens * (endpoint.price_prompt or 0.0)
            + answer.completion_tokens * (endpoint.price_completion or 0.0)
        ) / 1e6
        with self._lock:
            use = self._use
            use.calls += 1
            use.prompt_tokens += answer.prompt_tokens
            use.completion_tokens += answer.completion_tokens
            use.cost += cost
            use.unpriced += not priced
            use.seconds.append(seconds)

    def found(self, count: int = 1) -> None:
        """Count answers from the cache, or from the same question in flight."""
        with self._lock:
            self._use.calls += count
            self._use.cached += count

    def failed(self) -> None:
        """Count a question without an answer."""
        with self._lock:
            self._use.errors += 1

    def agreed(self, kind: Literal["repeat", "swap"], share: float) -> None:
        """Record how much two answers to one question agree."""
        with self._lock:
            total, count = getattr(self._use, kind)
            setattr(self._use, kind, (total + share, count + 1))

    def take(self) -> Use:
        """Use counted since the last call."""
        with self._lock:
            taken, self._use = self._use, Use()
            return taken


def merged(uses: Iterable[Use]) -> Use:
    """Sum of several."""
    total = Use()
    for use in uses:
        total.add(use)
    return total


def metrics(use: Use) -> dict[str, float]:
    """The step's ``judge/…`` metrics, if a judge was asked, and the share of test modules that pytest decided."""
    modules = use.fast_modules + use.slow_modules
    tests = {"reward/pytest_share": use.slow_modules / modules} if modules else {}
    asked = use.calls + use.errors
    if not asked:
        return tests
    found = tests | {
        "judge/calls": float(use.calls),
        "judge/errors": float(use.errors),
        "judge/cached_share": use.cached / asked,
        "judge/tokens": float(use.prompt_tokens + use.completion_tokens),
    }
    maybe = {
        "judge/latency_p50": use.quantile(0.5),
        "judge/latency_p95": use.quantile(0.95),
        "judge/cost": use.known_cost,
        "judge/agreement_repeat": mean(use.repeat),
        "judge/agreement_swap": mean(use.swap),
    }
    return found | {name: value for name, value in maybe.items() if value is not None}


def mean(sums: tuple[float, int]) -> float | None:
    """Mean from a sum and a count; None if the count is 0."""
    total, count = sums
    return total / count if count else None

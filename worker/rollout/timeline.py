"""Timeline for the console: spans of engines, rewards, learner and weight sync, per step."""

from __future__ import annotations

import threading
import time
from itertools import pairwise

from trainer_core.link.events import Span

MAX_SPANS = 40
"""Maximum number of spans reported per step. Nearest neighbours of one lane and phase are joined if there are more."""

_Span = tuple[str, str, float, float]


class Timeline:
    """Spans of the run so far. Thread-safe.

    Times go in as seconds since the epoch and come out as seconds since the run's start.
    """

    def __init__(self) -> None:
        self._origin = time.time()
        self._lock = threading.Lock()
        self._spans: list[_Span] = []

    @property
    def elapsed_s(self) -> float:
        """Seconds since the run's start."""
        return time.time() - self._origin

    def resume(self, elapsed_s: float) -> None:
        """Count the ``elapsed_s`` of earlier attempts."""
        self._origin -= elapsed_s

    def add(self, lane: str, phase: str, start: float, end: float) -> None:
        """Record what ``lane`` did from ``start`` to ``end``."""
        with self._lock:
            self._spans.append((lane, phase, start - self._origin, end - self._origin))

    def add_ended(self, lane: str, **phases: float) -> None:
        """Record phases that followed one another until now, by their seconds."""
        end = time.time() - sum(phases.values())
        for phase, seconds in phases.items():
            self.add(lane, phase, end, end + seconds)
            end += seconds

    def drain(self) -> list[Span]:
        """The spans since the last call, at most ``MAX_SPANS``, in order of lane and start."""
        with self._lock:
            spans, self._spans = self._spans, []
        return [
            Span(lane=lane, phase=phase, start=round(start, 4), end=round(end, 4))
            for lane, phase, start, end in _join(sorted(spans, key=lambda s: (s[0], s[2])))
        ]


def _join(spans: list[_Span]) -> list[_Span]:
    """Join spans that touch; if there are still too many, join the nearest ones."""
    gaps = sorted(b[2] - a[3] for a, b in pairwise(spans) if a[:2] == b[:2])
    excess = len(spans) - MAX_SPANS
    limit = max(0.002, gaps[min(excess, len(gaps)) - 1]) if excess > 0 and gaps else 0.002
    joined: list[_Span] = []
    for span in spans:
        last = joined[-1] if joined else None
        if last is not None and last[:2] == span[:2] and span[2] - last[3] <= limit:
            joined[-1] = (*last[:2], last[2], max(last[3], span[3]))
        else:
            joined.append(span)
    return joined[-MAX_SPANS:]

"""Online pruning: drop the least confident samples of a group once all of them are long enough to compare.

The idea is from ARRoL (arXiv 2603.24840), which trains a head to predict success. Here samples are ranked by the mean
log-probability of their first tokens, the confidence of DeepConf (arXiv 2508.15260), which costs nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from worker.engine.types import Prune, Request


@dataclass(slots=True)
class _PruningGroup:
    """State of one group."""

    size: int
    here: int = 0
    """Number of unfinished samples in this engine."""
    ended: int = 0
    confidence: dict[str, float] = field(default_factory=dict)
    """Confidence, by request id, of unfinished samples that are long enough."""
    decided: bool = False


class GroupPruner:
    """Tracks the groups of one engine and selects the requests to end.

    A group that was parked is pruned only if none of its samples had ended, because ended samples are not known here.
    """

    def __init__(self) -> None:
        self._groups: dict[str, _PruningGroup] = {}

    def enter(self, request: Request) -> None:
        """Account for a submitted request."""
        if request.sampling.prune is not None and request.group is not None:
            self._groups.setdefault(request.group.name, _PruningGroup(request.group.size)).here += 1

    def look(self, request: Request, confidence: float) -> list[str]:
        """Account for a sample that has reached `Prune.after`. Returns the requests to prune."""
        prune, group = request.sampling.prune, request.group
        if prune is None or group is None:
            return []
        state = self._groups[group.name]
        state.confidence[request.request_id] = confidence
        return self._decide(state, prune)

    def leave(self, request: Request, *, ended: bool) -> list[str]:
        """Account for a request that has ended or was parked. Returns the requests to prune."""
        prune, group = request.sampling.prune, request.group
        if prune is None or group is None:
            return []
        state = self._groups[group.name]
        state.confidence.pop(request.request_id, None)
        state.here -= 1
        state.ended += ended
        if not state.here:
            del self._groups[group.name]
        return self._decide(state, prune) if ended else []

    def _decide(self, state: _PruningGroup, prune: Prune) -> list[str]:
        if state.decided or state.ended + len(state.confidence) < state.size:
            return []
        state.decided = True
        kept = max(0, math.ceil(prune.keep * state.size) - state.ended)
        ranked = sorted(state.confidence, key=lambda request_id: state.confidence[request_id], reverse=True)
        return ranked[kept:]

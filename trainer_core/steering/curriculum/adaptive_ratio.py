"""Adaptive domain ratio (Apriel-Reasoner, arXiv 2604.02007): the groups that come back decide what is sent out."""

import math
from collections.abc import Mapping
from typing import Any

from trainer_core.spec.data.curriculum import AdaptiveRatioCurriculum


class RatioKeeper:
    """Counts the groups of each source that came back."""

    def __init__(self) -> None:
        self._counts: dict[str, float] = {}
        self._seen = 0

    def adjusted(self, spec: AdaptiveRatioCurriculum, weights: Mapping[str, float]) -> dict[str, float]:
        """``w_d · clip((t_d / c_d)^k, a_min, a_max)``; the plain weights until ``min_groups`` groups are back."""
        total, counted = math.fsum(weights.values()), math.fsum(self._counts.values())
        if self._seen < spec.min_groups or counted == 0.0:
            return dict(weights)
        adjusted = {}
        for source, weight in weights.items():
            share = self._counts.get(source, 0.0) / counted
            factor = (weight / total / share) ** spec.gain if share > 0.0 else spec.max_adjustment
            adjusted[source] = weight * min(max(factor, spec.min_adjustment), spec.max_adjustment)
        return adjusted

    def observe(self, spec: AdaptiveRatioCurriculum, source: str, pass_rate: float) -> None:
        """Count one group, if it is of the kind that counts."""
        if spec.count == "informative" and not 0.0 < pass_rate < 1.0:
            return
        if spec.horizon is not None:
            kept = math.exp(-1.0 / spec.horizon)
            self._counts = {name: count * kept for name, count in self._counts.items()}
        self._counts[source] = self._counts.get(source, 0.0) + 1.0
        self._seen += 1

    def state(self) -> dict[str, Any]:
        """State for the checkpoint."""
        return {"counts": dict(self._counts), "seen": self._seen}

    def load(self, state: Mapping[str, Any]) -> None:
        """Restore from a checkpoint."""
        self._counts, self._seen = dict(state["counts"]), state["seen"]

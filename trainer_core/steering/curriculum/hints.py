"""Hint scaffolding (after SEELE, arXiv 2509.06923): how much of the reference solution a prompt shows."""

import math
import re
from collections.abc import Mapping
from typing import Any

from trainer_core.prompting.plan import solution_of
from trainer_core.spec.data.prompting import HintScaffolding


class HintScaffold:
    """Hint shares shown for each prompt, and the pass rates that resulted."""

    def __init__(self) -> None:
        self._shown: dict[str, float] = {}
        """Share at the last draw; an observation is assigned to it."""
        self._visits: dict[str, list[tuple[float, float]]] = {}

    def draw(self, spec: HintScaffolding, prompt_id: str, item: Mapping[str, Any], samples: int) -> str:
        """The hint for the next group of ``samples`` completions."""
        share = self.share(spec, prompt_id, samples)
        self._shown[prompt_id] = share
        return beginning(solution_of(item, spec.column), share)

    def share(self, spec: HintScaffolding, prompt_id: str, samples: int) -> float:
        """Share of the solution to be shown next, from 0 to ``max_share``."""
        visits = self._visits.get(prompt_id)
        if not visits:
            return min(spec.first_share, spec.max_share)
        # Add half a success or half a failure to a group: without it no curve fits groups that are all right or all
        # wrong.
        margin = 0.5 / samples
        position = fit_position([(h, min(max(p, margin), 1.0 - margin)) for h, p in visits], spec.slope)
        wanted = position + math.log(spec.target_pass_rate / (1.0 - spec.target_pass_rate)) / spec.slope
        return min(max(wanted, 0.0), spec.max_share)

    def observe(self, spec: HintScaffolding, prompt_id: str, pass_rate: float) -> None:
        """Record the pass rate of a group of the prompt."""
        if prompt_id in self._shown:
            visits = self._visits.setdefault(prompt_id, [])
            visits.append((self._shown[prompt_id], pass_rate))
            del visits[: -spec.memory]

    def state(self) -> dict[str, Any]:
        """State for the checkpoint."""
        return {
            "shown": dict(self._shown),
            "visits": {prompt: [list(visit) for visit in visits] for prompt, visits in self._visits.items()},
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Restore from a checkpoint."""
        self._shown = dict(state["shown"])
        self._visits = {prompt: [(h, p) for h, p in visits] for prompt, visits in state["visits"].items()}


def beginning(solution: str, share: float) -> str:
    """The first ``share`` of a text, in whole words; "" for none."""
    words = re.findall(r"\s*\S+", solution)
    return "".join(words[: round(share * len(words))]).strip()


def fit_position(visits: list[tuple[float, float]], slope: float) -> float:
    """Maximum-likelihood position b of the logistic curve ``1 / (1 + e^(−slope · (h − b)))``.

    The likelihood's derivative, ``Σ (p_i − σ(slope · (h_i − b)))``, increases with b, so its root is found by
    bisection.

    Args:
        visits: shares h and pass rates p, each p strictly between 0 and 1.
        slope: above 0.
    """

    def excess(position: float) -> float:
        return math.fsum(p - 1.0 / (1.0 + math.exp(-slope * (h - position))) for h, p in visits)

    # Each visit alone would put b at h − logit(p) / slope; the root lies between the smallest and the largest of these.
    alone = [h - math.log(p / (1.0 - p)) / slope for h, p in visits]
    low, high = min(alone), max(alone)
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if excess(middle) < 0.0 else (low, middle)
    return (low + high) / 2.0

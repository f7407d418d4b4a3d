"""Difficulty-targeted selection (DOTS, arXiv 2506.05316): rows near a target pass rate are likelier."""

from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trainer_core.spec.data.curriculum import DifficultyTargetCurriculum
from trainer_core.steering.curriculum.rates import PassRates


class DifficultyTarget:
    """The rows of one source with their running pass rates."""

    def __init__(self, count: int, spec: DifficultyTargetCurriculum, rates: PassRates[int]) -> None:
        """``rates`` are those of the ``count`` rows."""
        self._count, self._spec, self._rates = count, spec, rates

    def take(self, rng: Random, count: int) -> list[int]:
        """``count`` rows in random order; a row comes twice only when all others have come."""
        rows: list[int] = []
        while len(rows) < count:
            rows += self._round(rng, min(count - len(rows), self._count))
        return rows

    def probabilities(self) -> NDArray[np.float64]:
        """Probability of each row to be drawn first, exploration left out; shape [rows]."""
        logits = self._logits()
        powers = np.exp(logits - logits.max())
        return powers / powers.sum()

    def set_target(self, spec: DifficultyTargetCurriculum) -> None:
        """Go on with another target; rates stay."""
        self._spec = spec

    def rates(self) -> list[float]:
        """Pass rates that are known, in no order."""
        return [rate for _, rate in self._rates.items()]

    def state(self) -> dict[str, Any]:
        """State for the checkpoint."""
        return {"rates": self._rates.state()}

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self._rates.load(state["rates"])

    def _round(self, rng: Random, count: int) -> list[int]:
        """``count`` different rows, ``count`` ≤ rows."""
        explored = sum(rng.random() < self._spec.explore for _ in range(count))
        noise = np.random.default_rng(rng.getrandbits(64))
        # The largest sums of logit and Gumbel noise are draws from the softmax without replacement.
        keys = self._logits() + noise.gumbel(size=self._count)
        targeted = np.argsort(-keys, kind="stable")[: count - explored]
        rest = np.setdiff1d(np.arange(self._count), targeted, assume_unique=True)
        drawn = np.concatenate([targeted, noise.choice(rest, explored, replace=False)]) if explored else targeted
        order: list[int] = noise.permutation(drawn).tolist()
        return order

    def _logits(self) -> NDArray[np.float64]:
        rates = np.full(self._count, self._spec.target_pass_rate)
        for row, rate in self._rates.items():
            rates[row] = rate
        return -np.abs(rates - self._spec.target_pass_rate) / self._spec.temperature

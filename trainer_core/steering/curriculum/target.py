"""Difficulty-targeted selection (DOTS, arXiv 2506.05316; PACED, arXiv 2603.11178): likelier near a pass rate."""

from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trainer_core.spec.data.curriculum import DifficultyTargetCurriculum
from trainer_core.steering.curriculum.prediction import PassRatePredictor
from trainer_core.steering.curriculum.rates import PassRates

EDGE = 0.01
"""Distance that rates keep from 0 and 1 in the Beta kernel: a few samples do not prove that a prompt teaches
nothing."""
LOOKED_AT = 4096
"""Most untried rows whose rates are predicted for a batch; a random subset if there are more."""


class DifficultyTarget:
    """The rows of one source with their running pass rates."""

    def __init__(
        self,
        count: int,
        spec: DifficultyTargetCurriculum,
        rates: PassRates[int],
        predictor: PassRatePredictor | None = None,
    ) -> None:
        """``rates`` are those of the ``count`` rows; ``predictor`` predicts those of untried rows."""
        self._count, self._spec, self._rates, self._predictor = count, spec, rates, predictor

    def take(self, rng: Random, count: int) -> list[int]:
        """``count`` rows in random order; a row repeats only after all others were drawn."""
        rows: list[int] = []
        while len(rows) < count:
            rows += self._round(rng, min(count - len(rows), self._count))
        return rows

    def probabilities(self) -> NDArray[np.float64]:
        """Probability that each row is drawn first, without exploration; shape [rows]."""
        logits = self._logits()
        powers = np.exp(logits - logits.max())
        return powers / powers.sum()

    def set_target(self, spec: DifficultyTargetCurriculum) -> None:
        """Switch to another target; rates stay."""
        self._spec = spec

    def rates(self) -> list[float]:
        """The known pass rates, in no particular order."""
        return [rate for _, rate in self._rates.items()]

    def state(self) -> dict[str, Any]:
        """State for the checkpoint."""
        return {"rates": self._rates.state()}

    def load(self, state: dict[str, Any]) -> None:
        """Restore from a checkpoint."""
        self._rates.load(state["rates"])

    def _round(self, rng: Random, count: int) -> list[int]:
        """``count`` different rows, ``count`` ≤ rows."""
        explored = sum(rng.random() < self._spec.explore for _ in range(count))
        noise = np.random.default_rng(rng.getrandbits(64))
        # Gumbel top-k: the largest sums of logit and Gumbel noise are draws from the softmax without replacement.
        keys = self._logits(noise) + noise.gumbel(size=self._count)
        targeted = np.argsort(-keys, kind="stable")[: count - explored]
        rest = np.setdiff1d(np.arange(self._count), targeted, assume_unique=True)
        drawn = np.concatenate([targeted, noise.choice(rest, explored, replace=False)]) if explored else targeted
        order: list[int] = noise.permutation(drawn).tolist()
        return order

    def _logits(self, rng: np.random.Generator | None = None) -> NDArray[np.float64]:
        spec = self._spec
        target = spec.likeliest
        rates = np.full(self._count, np.nan)
        for row, rate in self._rates.items():
            rates[row] = rate
        self._predict(rates, np.random.default_rng(0) if rng is None else rng)
        rates[np.isnan(rates)] = target
        if spec.shape == "distance":
            return -np.abs(rates - target) / spec.temperature
        kept = np.clip(rates, EDGE, 1.0 - EDGE)
        found: NDArray[np.float64] = (spec.alpha * np.log(kept) + spec.beta * np.log1p(-kept)) / spec.temperature
        return found

    def _predict(self, rates: NDArray[np.float64], rng: np.random.Generator) -> None:
        """Fill the gaps of ``rates`` with predictions; rows that are not looked at get the reference's mean."""
        fit = None if self._predictor is None else self._predictor.fit()
        if self._predictor is None or fit is None:
            return
        untried = np.flatnonzero(np.isnan(rates))
        rates[untried] = fit.mean
        looked_at = untried if len(untried) <= LOOKED_AT else rng.choice(untried, LOOKED_AT, replace=False)
        predicted = self._predictor.predict(looked_at.tolist())
        if predicted is not None:
            rates[looked_at] = predicted

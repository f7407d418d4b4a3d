"""Classes of rows: too hard, in the band, too easy; and how certain they are given the counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trainer_core.profiling.beta import beta_cdf
from trainer_core.profiling.prior import BetaPrior

RowClass = Literal["hard", "band", "easy"]
CLASSES: tuple[RowClass, ...] = ("hard", "band", "easy")


@dataclass(frozen=True, slots=True)
class PassBand:
    """Pass rates that a version should keep, both edges included."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.low < self.high <= 1.0:
            raise ValueError("a band goes from a pass rate up to a larger one, within 0 and 1")

    def chances(self, samples: int, correct: int, prior: BetaPrior) -> tuple[float, float, float]:
        """Posterior probabilities of the classes, in the order of ``CLASSES``."""
        a, b = prior.a + correct, prior.b + samples - correct
        below, upto = beta_cdf(self.low, a, b), beta_cdf(self.high, a, b)
        return below, max(0.0, upto - below), max(0.0, 1.0 - upto)

    def classify(self, samples: int, correct: int, prior: BetaPrior) -> tuple[RowClass, float]:
        """(The likeliest class, probability that it is wrong)."""
        chances = self.chances(samples, correct, prior)
        best = max(range(len(CLASSES)), key=chances.__getitem__)
        return CLASSES[best], max(0.0, 1.0 - chances[best])

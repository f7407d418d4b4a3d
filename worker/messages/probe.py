"""Figures of a probe. Imports neither torch nor vLLM."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Floor:
    """Noise between engine and learner at the same weights, in nats per token of the probe's text."""

    mean: float
    """Mean absolute difference, without the largest of each fifty."""
    quantile: float
    """The 95 % quantile of the absolute differences."""
    spread: float
    """Root of the mean square difference, without the largest of each fifty."""
    rounding: float = 0.0
    """Mean absolute change of the learner's own scores under other roundings, at these weights."""

    def at_least(self, other: "Floor") -> "Floor":
        """The larger of two, figure by figure."""
        return Floor(
            max(self.mean, other.mean),
            max(self.quantile, other.quantile),
            max(self.spread, other.spread),
            max(self.rounding, other.rounding),
        )


@dataclass(frozen=True, slots=True)
class ProbeFigures:
    """Result of a passed probe."""

    mean: float
    """Mean absolute difference of the log-probabilities, as in ``Floor``."""
    quantile: float
    largest: float
    floor: Floor
    """Noise it was judged by: the initial noise, increased with the learner's own rounding."""
    read_share: float
    """Share of the weights in tensors that had columns compared bit for bit."""
    seconds: float = 0.0
    """Time of the probe alone, without the loading."""
    retried: str = ""
    """Findings of a failed first probe, if a second one passed after all weights were loaded again."""

    def metrics(self) -> dict[str, float]:
        """The ``probe/…`` metrics."""
        return {
            "probe/mean_abs_diff": self.mean,
            "probe/p95_abs_diff": self.quantile,
            "probe/max_abs_diff": self.largest,
            "probe/noise_floor": self.floor.mean,
            "probe/weights_read_share": self.read_share,
            "timing_s/probe": self.seconds,
        }

    def worst(self, other: "ProbeFigures") -> "ProbeFigures":
        """Combine the figures of two engines: the worse of each."""
        return ProbeFigures(
            max(self.mean, other.mean),
            max(self.quantile, other.quantile),
            max(self.largest, other.largest),
            self.floor.at_least(other.floor),
            min(self.read_share, other.read_share),
            max(self.seconds, other.seconds),
            self.retried or other.retried,
        )

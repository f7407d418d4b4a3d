"""A published figure, and the simulation that is held against it."""

from collections.abc import Callable
from dataclasses import dataclass

from trainer_core.planning.cluster.rates import FITTED, ClusterAttained


@dataclass(frozen=True, slots=True)
class Unknown:
    """A setting that the publication does not tell: what is assumed, and between which bounds it may lie."""

    what: str
    assumed: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Claim:
    """One figure of one system."""

    system: str
    figure: str
    published: float
    unit: str
    source: str
    fitted: bool
    """Whether the constants of ``ClusterAttained`` were fitted on it; all others are judged."""
    unknown: Unknown
    compute: Callable[[ClusterAttained, float], float]
    """The simulated figure, by the constants and the value of ``unknown``."""

    def simulated(self, at: ClusterAttained = FITTED) -> float:
        """The figure with what is assumed."""
        return self.compute(at, self.unknown.assumed)

    def bounds(self, at: ClusterAttained = FITTED) -> tuple[float, float]:
        """The figure at both bounds of what is not known, the smaller one first."""
        found = [self.compute(at, value) for value in (self.unknown.low, self.unknown.high)]
        return min(found), max(found)

    def error(self, at: ClusterAttained = FITTED) -> float:
        """Simulated over published, less 1."""
        return self.simulated(at) / self.published - 1

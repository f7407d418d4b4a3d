"""A published figure, and the simulation that is compared with it."""

from collections.abc import Callable
from dataclasses import dataclass

from trainer_core.planning.cluster.rates import FITTED, ClusterAttained


@dataclass(frozen=True, slots=True)
class Unknown:
    """A setting that the publication does not state: the assumed value and its bounds."""

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
    """Whether the constants of ``ClusterAttained`` were fitted on it; all other figures test the fit."""
    unknown: Unknown
    compute: Callable[[ClusterAttained, float], float]
    """The simulated figure for the constants and the value of ``unknown``."""

    def simulated(self, at: ClusterAttained = FITTED) -> float:
        """The figure at the assumed value."""
        return self.compute(at, self.unknown.assumed)

    def bounds(self, at: ClusterAttained = FITTED) -> tuple[float, float]:
        """The figure at both bounds of the unknown, the smaller first."""
        found = [self.compute(at, value) for value in (self.unknown.low, self.unknown.high)]
        return min(found), max(found)

    def error(self, at: ClusterAttained = FITTED) -> float:
        """Simulated over published, minus 1."""
        return self.simulated(at) / self.published - 1

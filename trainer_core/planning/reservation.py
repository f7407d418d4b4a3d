"""Reservation of a run: what it reserves with Ray, by arithmetic that platform and worker share.

Every engine reserves ``ENGINE_CPUS`` and every learner rank ``LEARNER_CPUS``. On a cluster with GPUs each of them has
one as well; where there are fewer and the learner has one rank, they share.
"""

import math
from dataclasses import dataclass

from trainer_core.spec.learner.parallelism import Parallelism

ENGINE_CPUS = 1.0
LEARNER_CPUS = 0.5


@dataclass(frozen=True, slots=True)
class ReservedShape:
    """Resources that must lie on one node, and how many times."""

    cpus: float
    gpus: float
    count: int


@dataclass(frozen=True, slots=True)
class Reservation:
    """Resources that one run reserves."""

    engines: int
    ranks: int

    @classmethod
    def of(cls, parallelism: Parallelism) -> "Reservation":
        return cls(parallelism.rollout_workers, parallelism.learner_ranks)

    @property
    def cpus(self) -> float:
        """CPUs in all."""
        return ENGINE_CPUS * self.engines + LEARNER_CPUS * self.ranks

    @property
    def gpus(self) -> int:
        """GPUs, where each engine and each rank has one of its own."""
        return self.engines + self.ranks

    @property
    def least_gpus(self) -> int:
        """GPUs with which it starts on a cluster that has any: ranks of one learner need a device each."""
        return 1 if self.ranks == 1 else self.gpus

    def gpus_held(self, gpus: float) -> float:
        """GPUs that it reserves on a cluster with ``gpus`` of them; 0 on one without."""
        if gpus < 1:
            return 0.0
        return float(self.gpus) if gpus >= self.gpus else self.gpus / math.ceil(self.gpus / int(gpus))

    def shapes(self, gpus: float) -> tuple[ReservedShape, ...]:
        """Shapes that the autoscaler is asked for, where the cluster may have ``gpus`` GPUs."""
        share = self.gpus_held(gpus) / self.gpus
        return ReservedShape(ENGINE_CPUS, share, self.engines), ReservedShape(LEARNER_CPUS, share, self.ranks)

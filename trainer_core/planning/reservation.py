"""Reservation of a run: what it reserves with Ray, by arithmetic that platform and worker share.

Every device of an engine reserves ``ENGINE_CPUS`` and every learner rank ``LEARNER_CPUS``. On a cluster with GPUs each
of them has one as well, those of one engine on one node. Where there are fewer, engines of one device and a learner of
one rank share them.
"""

import math
from dataclasses import dataclass

from trainer_core.spec.generation.rollout import Engine
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
    devices: int = 1
    """Devices of each engine."""

    @classmethod
    def of(cls, parallelism: Parallelism, engine: Engine) -> "Reservation":
        """The reservation of a run with these parts of a spec."""
        return cls(parallelism.rollout_workers, parallelism.learner_ranks, engine.devices)

    @property
    def cpus(self) -> float:
        """CPUs in all."""
        return ENGINE_CPUS * self.engines * self.devices + LEARNER_CPUS * self.ranks

    @property
    def gpus(self) -> int:
        """GPUs, where each device of an engine and each rank has one of its own."""
        return self.engines * self.devices + self.ranks

    @property
    def shares(self) -> bool:
        """Whether it can do with fewer: ranks of one learner, and devices of one engine, need a GPU each."""
        return self.ranks == 1 and self.devices == 1

    @property
    def least_gpus(self) -> int:
        """GPUs with which it starts on a cluster that has any."""
        return 1 if self.shares else self.gpus

    def gpus_held(self, gpus: float) -> float:
        """GPUs that it reserves on a cluster with ``gpus`` of them; 0 on one without."""
        if gpus < 1:
            return 0.0
        if gpus >= self.gpus or not self.shares:
            return float(self.gpus)
        return self.gpus / math.ceil(self.gpus / int(gpus))

    def shapes(self, gpus: float) -> tuple[ReservedShape, ...]:
        """Shapes that the autoscaler is asked for, where the cluster may have ``gpus`` GPUs."""
        share = self.gpus_held(gpus) / self.gpus
        return (
            ReservedShape(ENGINE_CPUS * self.devices, share * self.devices, self.engines),
            ReservedShape(LEARNER_CPUS, share, self.ranks),
        )

"""Reservation of a run: what it reserves with Ray, computed in the same way by platform and worker.

Every device of an engine reserves ``ENGINE_CPUS`` and every learner rank ``LEARNER_CPUS``. On a cluster with GPUs, each
also has one GPU, and the GPUs of one engine are on one node. If there are fewer GPUs, engines with one device and a
learner with one rank share them.
"""

import math
from dataclasses import dataclass

from trainer_core.spec.generation.rollout import Engine
from trainer_core.spec.learner.parallelism import Parallelism

ENGINE_CPUS = 1.0
LEARNER_CPUS = 0.5


@dataclass(frozen=True, slots=True)
class ReservedShape:
    """Resources that must be on one node, and how many such bundles."""

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
    least_engines: int | None = None
    """Engines that it starts with, if it does not wait for all."""

    @classmethod
    def of(cls, parallelism: Parallelism, engine: Engine | None) -> "Reservation":
        """The reservation of a run with these parts of a spec. ``engine`` is None for a run that samples nothing."""
        if engine is None:
            return cls(0, parallelism.learner_ranks)
        least = parallelism.least_rollout_workers
        return cls(parallelism.rollout_workers, parallelism.learner_ranks, engine.devices, least)

    @property
    def cpus(self) -> float:
        """CPUs that it starts with."""
        return ENGINE_CPUS * self._first * self.devices + LEARNER_CPUS * self.ranks

    @property
    def gpus(self) -> int:
        """GPUs that it starts with, if each device of an engine and each rank has its own."""
        return self._first * self.devices + self.ranks

    @property
    def shares(self) -> bool:
        """Whether it can run on fewer: several ranks of one learner, or several devices of one engine, need a GPU
        each."""
        return self.ranks == 1 and self.devices == 1

    @property
    def least_gpus(self) -> int:
        """Fewest GPUs with which it starts on a cluster that has GPUs."""
        return 1 if self.shares else self.gpus

    def gpus_held(self, gpus: float) -> float:
        """GPUs that it reserves on a cluster with ``gpus`` GPUs; 0 on a cluster without."""
        first = self._share(gpus) * self.gpus
        further = self.further(gpus, math.inf, gpus - first)
        return first + further.gpus * further.count

    def shapes(self, gpus: float) -> tuple[ReservedShape, ...]:
        """Shapes that it starts with, if the cluster may have ``gpus`` GPUs."""
        return self._engines(gpus, self._first), ReservedShape(LEARNER_CPUS, self._share(gpus), self.ranks)

    def further(self, gpus: float, cpus_left: float, gpus_left: float) -> ReservedShape:
        """Engines beyond those that it starts with: as many as fit on a cluster of ``gpus`` GPUs."""
        one, wanted = self._engines(gpus, 1), self.engines - self._first
        rooms = [wanted, cpus_left / one.cpus, gpus_left / one.gpus if one.gpus else math.inf]
        return self._engines(gpus, max(0, math.floor(min(rooms) + 1e-9)))

    @property
    def _first(self) -> int:
        return self.engines if self.least_engines is None else min(self.least_engines, self.engines)

    def _engines(self, gpus: float, count: int) -> ReservedShape:
        return ReservedShape(ENGINE_CPUS * self.devices, self._share(gpus) * self.devices, count)

    def _share(self, gpus: float) -> float:
        """GPUs of each device of an engine and of each rank."""
        if gpus < 1:
            return 0.0
        return 1.0 if gpus >= self.gpus or not self.shares else 1.0 / math.ceil(self.gpus / int(gpus))

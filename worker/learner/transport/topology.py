"""Topology of a run's models, as far as it decides how weights can travel."""

from __future__ import annotations

import os
from dataclasses import dataclass

LOCATION = "DRESSAGE_WEIGHTS_LOCATION"
"""Variable in which the operator names the folder, or ``s3://bucket/prefix``, through which weights may travel."""


@dataclass(frozen=True, slots=True)
class Topology:
    """Facts about the models of a run. Those that depend on Ray are queried again whenever weights are published."""

    hosts: int = 1
    """Ray nodes that may hold a model."""
    engines: int = 1
    """Rollout engines."""
    device: str = "cpu"
    """Kind of device of every model."""
    gpus: float = 0.0
    """Share of a GPU that every model has; 1 if each has its own."""
    cards: int = 0
    """GPUs of all hosts."""
    encrypted: bool = False
    """Whether Ray encrypts traffic between hosts. If so, the network between them is not trusted at all."""
    location: str = ""
    """Folder or ``s3://bucket/prefix`` that the operator has named for weights; empty for none."""
    folder: str = ""
    """Name of this run's own folder at that location."""

    @property
    def own_gpus(self) -> bool:
        """Whether each model has a GPU to itself: NCCL refuses two members on one."""
        return self.device == "cuda" and self.gpus >= 1.0


def hosts() -> int:
    """Number of Ray nodes that may hold a model now."""
    import ray

    return sum(node["Alive"] and node["Resources"].get("CPU", 0.0) > 0 for node in ray.nodes())


def topology(engines: int, device: str, gpus: float, folder: str) -> Topology:
    """The topology of a run that this process may start on the cluster it is connected to."""
    import ray

    cards = int(ray.cluster_resources().get("GPU", 0.0))
    encrypted = os.environ.get("RAY_USE_TLS", "0").lower() in ("1", "true")
    location = os.environ.get(LOCATION, "").rstrip("/")
    return Topology(hosts(), engines, device, gpus, cards, encrypted, location, folder)

"""Nodes, links and clusters, with the vendors' figures. Nothing here was measured.

Sources: the vendors' data sheets (H100, H200, H800, H20, A100, B200 in SXM form; NVLink figures are half of the
bidirectional ones), ConnectX-7 at 400 Gbit/s a GPU, PCIe 5.0 x16; failures: 419 interruptions of 16,384 H100 in 54 days
(Llama 3, arXiv 2407.21783, §3.3.4).
"""

import math
from dataclasses import dataclass, replace

from trainer_core.planning.machines import Machine
from trainer_core.planning.memory import GIB
from trainer_core.planning.workload import PlanError

MICROSECOND = 1e-6
GIGABYTE = 1e9


@dataclass(frozen=True, slots=True)
class GpuLink:
    """Link from one GPU to others, in one direction."""

    bandwidth: float
    """Bytes per second, as published."""
    latency: float
    """Seconds of a small collective operation over the link."""

    def seconds(self, size: float, share: float) -> float:
        """Time to transfer ``size`` bytes at ``share`` of the bandwidth."""
        return self.latency + size / (self.bandwidth * share)


@dataclass(frozen=True, slots=True)
class GpuHost:
    """A host: its GPUs and their links."""

    machine: Machine
    inside: GpuLink
    """Link between two GPUs of the host (NVLink)."""
    network: GpuLink
    """Link from one GPU to another host (InfiniBand, Ethernet)."""
    host: GpuLink
    """Link between one GPU and the host's memory (PCIe)."""


@dataclass(frozen=True, slots=True)
class Reliability:
    """Failures and slow hosts."""

    gpu_hours_between_failures: float = 16_384 * 54 * 24 / 419
    """Mean GPU hours between failures that end a process; infinite for no failures."""
    restart_seconds: float = 300.0
    """Seconds from the failure of a learner's GPU until the run resumes from its checkpoint."""
    engine_restart_seconds: float = 120.0
    """Seconds until a failed engine generates again; the others continue in the meantime."""
    slowness: float = 0.02
    """Standard deviation of the logarithm of a host's slowness, whose median is 1."""


PERFECT = Reliability(gpu_hours_between_failures=math.inf, slowness=0.0)
"""Nothing fails, and all hosts are equally fast."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Identical nodes on one network without a bottleneck, and a store for checkpoints."""

    node: GpuHost
    nodes: int
    store: GpuLink = GpuLink(2 * GIGABYTE, 0.05)
    """Link from one node to the object store or file system that checkpoints go to."""
    reliability: Reliability = Reliability()

    @property
    def gpus(self) -> int:
        """Number of GPUs."""
        return self.nodes * self.node.machine.gpus

    def between(self, gpus: int) -> GpuLink:
        """The slowest link among ``gpus`` neighbouring GPUs."""
        return self.node.inside if gpus <= self.node.machine.gpus else self.node.network


def _node(memory: float, peak: float, bandwidth: float, nvlink: float, network: float, pcie: float) -> GpuHost:
    """Eight GPUs; memory available to processes in GiB, peak in TFLOP/s, the rest in GB/s."""
    return GpuHost(
        machine=Machine(gpus=8, memory=int(memory * GIB), peak=peak * 1e12, bandwidth=bandwidth * GIGABYTE),
        inside=GpuLink(nvlink * GIGABYTE, 10 * MICROSECOND),
        network=GpuLink(network * GIGABYTE, 30 * MICROSECOND),
        host=GpuLink(pcie * GIGABYTE, 10 * MICROSECOND),
    )


NODES = {
    #             GiB    TFLOP/s  GB/s NVLink network PCIe
    "A100": _node(79.1,   312,  2_039,   300,     25,   32),
    "H100": _node(79.1,   989,  3_350,   450,     50,   64),
    "H800": _node(79.1,   989,  3_350,   200,     50,   64),
    "H20":  _node(95.0,   148,  4_000,   450,     50,   64),
    "H200": _node(139.0,  989,  4_800,   450,     50,   64),
    "B200": _node(178.0, 2_250, 8_000,   900,     50,   64),
}  # fmt: skip
"""Hosts of eight GPUs by GPU name."""


def cluster_of(gpu: str, gpus: int, reliability: Reliability = Reliability()) -> Cluster:
    """A cluster of ``gpus`` GPUs of a known kind: one host of up to eight, or several hosts of eight.

    Raises:
        PlanError: the kind is unknown, or hosts would not be full.
    """
    if gpu not in NODES:
        raise PlanError(f"{gpu!r} is not a known kind of GPU; known are {', '.join(NODES)}.")
    node = NODES[gpu]
    if 1 <= gpus <= node.machine.gpus:
        return Cluster(replace(node, machine=replace(node.machine, gpus=gpus)), 1, reliability=reliability)
    if gpus < 1 or gpus % node.machine.gpus:
        raise PlanError(f"{gpus} GPUs do not fill hosts of {node.machine.gpus}.")
    return Cluster(node, gpus // node.machine.gpus, reliability=reliability)

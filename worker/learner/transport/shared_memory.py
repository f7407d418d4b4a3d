"""Shared memory of one host: the learner writes a segment, engines map it, and nothing remains when they end."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from worker.learner.transport.arrays import Stored, as_stored, as_tensor
from worker.learner.transport.base import Tensors, WeightTransport
from worker.learner.transport.segment import MemorySegment, SegmentName, open_segment, this_host
from worker.learner.transport.topology import Topology


@dataclass(frozen=True, slots=True)
class OnNode:
    """A segment, and the Ray node that can read it."""

    segment: SegmentName
    node: str


class SharedMemory(WeightTransport):
    """The bundle holds the name of a segment; see ``segment.py``."""

    name = "shared_memory"
    lasts = True
    local = True

    def __init__(self) -> None:
        """Hold no segments yet."""
        self._held: dict[bytes, MemorySegment] = {}

    def refusal(self, topology: Topology) -> str | None:
        """Requires a single host, with Linux."""
        if not hasattr(os, "memfd_create"):
            return "this system has no sealed memory segments: they need Linux"
        if topology.hosts > 1:
            return f"the run's models may be on {topology.hosts} hosts, which share no memory"
        return None

    def sender(self, topology: Topology) -> SharedMemory:
        """A separate instance that tracks the segments that it writes."""
        return SharedMemory()

    def pack(self, version: int, layers: Iterable[Tensors]) -> OnNode:
        """Write a segment."""
        segment = MemorySegment(layers)
        self._held[segment.name.key] = segment
        return OnNode(segment.name, _node())

    def unpack(self, packed: OnNode) -> Tensors:
        """The segment's tensors; through Ray's store for an engine on a host that joined later."""
        own = self._held.get(packed.segment.key)
        if own is not None:
            return own.tensors()
        if packed.segment.host != this_host() and packed.node:
            return _from_afar(packed)
        return open_segment(packed.segment)

    def keep(self, packed: Collection[OnNode]) -> None:
        """Close all other segments. Their memory is freed when the last reader releases it."""
        kept = {one.segment.key for one in packed}
        for key in [key for key in self._held if key not in kept]:
            self._held.pop(key).close()

    def close(self) -> None:
        """Close all segments."""
        self.keep(())


def _from_afar(packed: OnNode) -> Tensors:
    import ray
    from ray.exceptions import RayError
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    there = NodeAffinitySchedulingStrategy(packed.node, soft=False)
    task = ray.remote(_as_stored).options(num_cpus=0, scheduling_strategy=there, max_retries=0)
    try:
        found: dict[str, Stored] = ray.get(task.remote(packed))
    except RayError as error:
        told = str(getattr(error, "cause", error)).splitlines()[0]  # Ray's own text includes the remote traceback
        raise RuntimeError(f"the weights cannot be fetched from the node {packed.node}: {told}") from error
    return {name: as_tensor(stored) for name, stored in found.items()}


def _as_stored(packed: OnNode) -> dict[str, Stored]:
    return {name: as_stored(tensor) for name, tensor in open_segment(packed.segment).items()}


def _node() -> str:
    """The Ray node of this process; empty if it has none."""
    import ray

    return ray.get_runtime_context().get_node_id() if ray.is_initialized() else ""

"""Methods to send new weights from the learner to the engines, and their times."""

import math
from dataclasses import dataclass
from typing import Literal

from trainer_core.planning.cluster.hardware import Cluster
from trainer_core.planning.cluster.layout import EngineLayout
from trainer_core.planning.cluster.rates import FITTED, ClusterAttained
from trainer_core.planning.rates import SyncRates
from trainer_core.planning.workload import PlanError

Way = Literal["gathered", "sharded", "point_to_point", "delta", "store"]
BUCKET = 2e9
"""Bytes that are sent together."""
INDEX_BYTES = 4
"""Bytes of the index of a changed weight."""


@dataclass(frozen=True, slots=True)
class PublicationPlan:
    """A publication method and its payload."""

    way: Way
    """``gathered``: one rank assembles the weights and broadcasts them along a chain of hosts. ``sharded``: every GPU
    loads its share from host memory, and each share is broadcast to all, which keep what they need (as
    checkpoint-engine does). ``point_to_point``: GPUs of the learner write to every GPU of an engine what it needs.
    ``delta``: as ``gathered``, but only the changed weights. ``store``: through the store."""
    changed: float = 1.0
    """Share of the weights that a delta holds."""
    bucket: float = BUCKET

    def sync(
        self,
        cluster: Cluster,
        weights: float,
        engines: int,
        layout: EngineLayout,
        learner_gpus: int,
        at: ClusterAttained = FITTED,
    ) -> SyncRates:
        """Times of learner and engines.

        Args:
            cluster: the links.
            weights: bytes of the whole policy in the engines' format.
            engines: number of engines that receive it.
            layout: GPUs of one engine.
            learner_gpus: number of GPUs that hold it.
            at: shares of the links' bandwidths.
        """
        hosts = math.ceil(engines * layout.tensor / cluster.node.machine.gpus)
        if self.way == "gathered":
            # Assembling and sending are pipelined by bucket, so the slower one decides.
            chain = chain_seconds(cluster, weights, hosts, at, self.bucket)
            return SyncRates(publish_seconds=0.0, load_seconds=max(weights / at.gather_bandwidth, chain))
        if self.way == "sharded":
            brought = cluster.node.host.seconds(weights / max(learner_gpus, 1), at.links)
            chain = chain_seconds(cluster, weights, hosts, at, self.bucket)
            return SyncRates(publish_seconds=brought, load_seconds=chain + weights / at.apply_bandwidth)
        if self.way == "point_to_point":
            link = cluster.between(learner_gpus + engines * layout.tensor)
            # The busiest GPU decides: either one that receives its part of the weights, or one that sends its part to
            # all engines.
            received, sent = weights / layout.tensor, weights * engines / max(learner_gpus, 1)
            return SyncRates(publish_seconds=0.0, load_seconds=link.seconds(max(received, sent), at.links))
        if self.way == "delta":
            if not 0 < self.changed <= 1:
                raise PlanError(
                    f"the share of weights that changed must be above 0 and at most 1, not {self.changed:g}."
                )
            sent = weights * self.changed * (1 + INDEX_BYTES / layout.width)
            chain = chain_seconds(cluster, sent, hosts, at, self.bucket)
            return SyncRates(publish_seconds=weights / at.scan_bandwidth, load_seconds=chain)
        # Each host of the learner uploads a part; each host of an engine downloads what its GPUs need.
        uploaded = weights / max(1, math.ceil(learner_gpus / cluster.node.machine.gpus))
        needed = weights * min(1.0, cluster.node.machine.gpus / layout.tensor)
        return SyncRates(
            publish_seconds=cluster.store.seconds(uploaded, at.links),
            load_seconds=cluster.store.seconds(needed, at.links),
        )


def chain_seconds(cluster: Cluster, size: float, hosts: int, at: ClusterAttained, bucket: float = BUCKET) -> float:
    """Time of a broadcast along ``hosts`` hosts, bucket by bucket: each host forwards a bucket while it receives the
    next. All network links of a host carry a part; inside the host, NVLink distributes them."""
    inside, network = cluster.node.inside, cluster.node.network
    buckets = max(1, math.ceil(size / bucket))
    each = size / buckets
    if hosts <= 1:
        return buckets * inside.latency + size / (inside.bandwidth * at.links)
    wide = min(network.bandwidth * cluster.node.machine.gpus, inside.bandwidth) * at.links
    return (buckets + hosts - 1) * (network.latency + each / wide)

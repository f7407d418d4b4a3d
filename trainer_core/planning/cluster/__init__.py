"""Runs on hypothetical clusters: nodes and links from the vendors' figures, failures, slow hosts, publication.

The loop itself is ``trainer_core.planning.simulate``; this package computes its rates and simulates many of its steps
with failures. Imports neither torch nor numpy.
"""

from trainer_core.planning.cluster.estimate import SIZES, ClusterEstimate, estimate
from trainer_core.planning.cluster.hardware import NODES, Cluster, cluster_of
from trainer_core.planning.cluster.scale import SCALES, Scale
from trainer_core.planning.cluster.simulate import ClusterRun, Setting, simulate_cluster

__all__ = [
    "NODES",
    "SCALES",
    "SIZES",
    "Cluster",
    "ClusterEstimate",
    "ClusterRun",
    "Scale",
    "Setting",
    "cluster_of",
    "estimate",
    "simulate_cluster",
]

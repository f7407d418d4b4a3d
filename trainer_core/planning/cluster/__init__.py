"""Runs on clusters that need not exist: nodes and links from the makers' figures, failures, slow hosts, publication.

The loop itself is ``trainer_core.planning.simulate``; what is here makes its rates, and passes through many of its
steps among failures. Imports neither torch nor numpy.
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

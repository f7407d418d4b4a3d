"""A host whose steps can be worked out by hand."""

from dataclasses import replace
from typing import Any

from trainer_core.planning.attained import Attained
from trainer_core.planning.cluster.hardware import PERFECT, Cluster, GpuHost, GpuLink
from trainer_core.planning.cluster.layout import EngineLayout, LearnerLayout
from trainer_core.planning.cluster.publication import PublicationPlan
from trainer_core.planning.cluster.rates import ClusterAttained
from trainer_core.planning.cluster.scale import Scale
from trainer_core.planning.cluster.simulate import BatchWork, Setting
from trainer_core.planning.lengths import EmpiricalLengths
from trainer_core.planning.machines import Machine
from trainer_core.planning.memory import GIB
from trainer_core.planning.workload import LoopMode

SYNC = LoopMode("sync")
ASYNC = LoopMode("async", max_staleness=1)
WHOLE = ClusterAttained(
    shares=Attained(1.0, 1.0, 1.0),
    links=1.0,
    half_width=0.0,
    layer_seconds=0.0,
    step_seconds=0.75,
    apply_bandwidth=100e9,
)
"""All that the makers promise."""
NODE = GpuHost(
    machine=Machine(gpus=2, memory=40 * GIB, peak=1.6e12, bandwidth=20e9),
    inside=GpuLink(100e9, 0.0),
    network=GpuLink(10e9, 0.0),
    host=GpuLink(50e9, 0.0),
)
POLICY = Scale(parameters=1e9, active=1e9, layers=1, hidden=1000, cached_numbers=1000, queries=0, width=1000)


def cluster(nodes: int = 1, **links: GpuLink) -> Cluster:
    """Hosts of two GPUs, that never fail."""
    return Cluster(replace(NODE, **links), nodes, store=GpuLink(5e9, 0.0), reliability=PERFECT)


def setting(**changes: Any) -> Setting:
    """One engine and one copy of the learner: two groups of four with 100 tokens each behind prompts of 10."""
    given: dict[str, Any] = {
        "cluster": cluster(),
        "scale": POLICY,
        "batch": BatchWork(2, 4, 10.0, EmpiricalLengths(tokens=(100.0,)), 200, max_running=8),
        "mode": SYNC,
        "engine": EngineLayout(),
        "learner": LearnerLayout(),
        "engines": 1,
        "copies": 1,
        "publication": PublicationPlan("sharded"),
        "attained": WHOLE,
    }
    return Setting(**{**given, **changes})

"""Placement of a run's models: on the cluster's GPUs if it has any that this installation can use, or on CPUs."""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

import ray

from worker.cluster.actors import resources
from worker.errors import ClusterError


@dataclass(frozen=True, slots=True)
class Placement:
    """Device and GPU share of every engine and learner rank of a run alike, and the share of its reward models."""

    device: str = "cpu"
    gpus: float = 0.0
    """GPUs that each reserves with Ray, which shows a process only the GPU that it has reserved."""
    scoring_gpus: float = 0.0
    """GPUs that all reward workers reserve together; 0 where no reward model computes on one."""


def place(engines: int, ranks: int, gpus: float, *, scoring: bool = False, wide: int = 0, each: int = 1) -> Placement:
    """Each model on a GPU of its own; where there are fewer, as many as must share one, but no two ranks of a learner.

    The reward models of all reward workers together count as one model. They compute on CPUs where several ranks leave
    no GPU for them.

    Args:
        engines: the engines of rollouts and judges.
        ranks: the ranks of the learner.
        gpus: the GPUs that can be used.
        scoring: whether rewards ask reward models.
        wide: those of the engines that compute on several GPUs.
        each: GPUs of each of these; they share none.

    Raises:
        ClusterError: there are GPUs, and too few for the ranks, or for the wide engines.
    """
    if gpus < 1:
        return Placement()
    models = engines + ranks + wide * (each - 1) + scoring
    if gpus >= models:
        return Placement("cuda", 1.0, float(scoring))
    if (ranks > 1 or wide) and scoring:
        return place(engines, ranks, gpus, wide=wide, each=each)
    if wide:
        raise ClusterError(
            f"The run needs {models} GPUs: {each} for each of {wide} engines (tensor_parallel_size times "
            f"pipeline_parallel_size) and one for each of {models - wide * each} other models; the cluster has "
            f"{gpus:g}. Engines of one GPU can share it with others."
        )
    if ranks > 1:
        # Their collective operations need a device each, and Ray may put any two models that share together.
        raise ClusterError(
            f"The run needs {models} GPUs, one for each learner rank ({ranks}) and engine ({engines}); the cluster has "
            f"{gpus:g}. With parallelism.learner_ranks = 1 they can share."
        )
    share = 1.0 / math.ceil(models / int(gpus))
    return Placement("cuda", share, share * scoring)


def check_one_node(each: int, cpus: float, placement: Placement) -> None:
    """Refuse engines of several devices that no node of the cluster has together: their processes share a host.

    Args:
        each: devices of one engine.
        cpus: CPUs that each of them reserves.
        placement: where models are placed.

    Raises:
        ClusterError: no node is large enough.
    """
    if each == 1:
        return
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    kind, needed = ("GPU", float(each)) if placement.device == "cuda" else ("CPU", each * cpus)
    most = max((float(node.get(kind, 0.0)) for node in nodes), default=0.0)
    if most < needed:
        raise ClusterError(
            f"One engine needs {needed:g} {kind}s on one node (rollout.engine.tensor_parallel_size times "
            f"pipeline_parallel_size); the largest node of the cluster has {most:g}."
        )


def go_on_with(now: Placement, path: Path) -> Placement:
    """Placement of an attempt, kept at ``path`` for the next one.

    A run that has computed on GPUs never goes on without them, and never on smaller shares, because a node is missing:
    it waits for the node.
    """
    try:
        before = Placement(**json.loads(path.read_text()))
    except FileNotFoundError:
        before = now
    chosen = before if before.gpus > now.gpus else now
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(chosen)))
    return chosen


def usable_gpus() -> float:
    """GPUs of the cluster, or that it may grow to; 0 where the installed torch was built without them."""
    gpus = resources("GPU")
    return gpus if gpus and built_for_gpus() else 0.0


def built_for_gpus() -> bool:
    """Whether the installed torch was built for GPUs."""
    import torch  # only where there is a GPU: a controller without one does not wait for it

    return torch.version.cuda is not None

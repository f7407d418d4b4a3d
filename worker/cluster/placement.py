"""Placement of a run's models: on the cluster's GPUs if this installation can use any, else on CPUs."""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

import ray

from worker.cluster.actors import resources
from worker.errors import ClusterError


@dataclass(frozen=True, slots=True)
class Placement:
    """Device and GPU share that every engine and learner rank of a run gets, and the share of its reward models."""

    device: str = "cpu"
    gpus: float = 0.0
    """GPUs that each reserves with Ray, which exposes to a process only the GPUs it has reserved."""
    scoring_gpus: float = 0.0
    """GPUs that all reward workers reserve together; 0 if no reward model runs on a GPU."""


def place(engines: int, ranks: int, gpus: float, *, scoring: bool = False, wide: int = 0, each: int = 1) -> Placement:
    """Give each model its own GPU. If there are too few, models share GPUs, but two learner ranks never do.

    The reward models of all reward workers together count as one model. They run on CPUs if several ranks leave no GPU
    for them.

    Args:
        engines: number of engines for rollouts and judges.
        ranks: number of learner ranks.
        gpus: number of usable GPUs.
        scoring: whether rewards use reward models.
        wide: number of engines that run on several GPUs.
        each: GPUs of each of these; they are not shared.

    Raises:
        ClusterError: there are GPUs, but too few for the ranks or for the wide engines.
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
        # Collective operations need one device per rank, and Ray may pair any two models that share a GPU.
        raise ClusterError(
            f"The run needs {models} GPUs, one for each learner rank ({ranks}) and engine ({engines}); the cluster has "
            f"{gpus:g}. With parallelism.learner_ranks = 1 they can share."
        )
    share = 1.0 / math.ceil(models / int(gpus))
    return Placement("cuda", share, share * scoring)


def check_one_node(each: int, cpus: float, placement: Placement) -> None:
    """Refuse engines on several devices that fit on no single node: their processes share a host.

    Args:
        each: number of devices of one engine.
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
    """Placement of an attempt, stored at ``path`` for the next one.

    A run that has used GPUs never continues without them, or with smaller shares, because a node is missing. It waits
    for the node.
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
    """GPUs that the cluster has or may grow to; 0 if the installed torch was built without GPU support."""
    gpus = resources("GPU")
    return gpus if gpus and built_for_gpus() else 0.0


def built_for_gpus() -> bool:
    """Whether the installed torch has GPU support."""
    import torch  # only with GPUs: otherwise the controller need not wait for the import

    return torch.version.cuda is not None

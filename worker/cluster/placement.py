"""Placement of a run's models: on the cluster's GPUs if it has any that this installation can use, or on CPUs."""

import math
from dataclasses import dataclass

import ray

from worker.errors import ClusterError


@dataclass(frozen=True, slots=True)
class Placement:
    """Device and GPU share of every model of a run alike."""

    device: str = "cpu"
    gpus: float = 0.0
    """GPUs that each reserves with Ray, which shows a process only the GPU that it has reserved."""


def place(engines: int, ranks: int, gpus: float) -> Placement:
    """Each model on a GPU of its own; where there are fewer, as many as must share one, but no two ranks of a learner.

    Args:
        engines: the engines of rollouts and judges.
        ranks: the ranks of the learner.
        gpus: the GPUs that can be used.

    Raises:
        ClusterError: there are GPUs, and too few for the ranks.
    """
    if gpus < 1:
        return Placement()
    models = engines + ranks
    if gpus >= models:
        return Placement("cuda", 1.0)
    if ranks > 1:
        # Their collective operations need a device each, and Ray may put any two models that share together.
        raise ClusterError(
            f"The run needs {models} GPUs, one for each learner rank ({ranks}) and engine ({engines}); the cluster has "
            f"{gpus:g}. With parallelism.learner_ranks = 1 they can share."
        )
    return Placement("cuda", 1.0 / math.ceil(models / int(gpus)))


def usable_gpus() -> float:
    """GPUs of the cluster; 0 where the installed torch was built without them."""
    gpus = float(ray.cluster_resources().get("GPU", 0.0))
    return gpus if gpus and built_for_gpus() else 0.0


def built_for_gpus() -> bool:
    """Whether the installed torch was built for GPUs."""
    import torch  # only where there is a GPU: a controller without one does not wait for it

    return torch.version.cuda is not None

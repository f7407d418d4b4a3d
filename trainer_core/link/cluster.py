"""A cluster's size, as one of its workers tells it, and the demand that its autoscaler is handed."""

from typing import Annotated, Final

from pydantic import Field

from trainer_core.link.base import Count, Message, Name

UNKNOWN_KIND: Final = "GPU"
"""Kind of GPUs whose nodes do not name theirs."""

Amount = Annotated[float, Field(ge=0, allow_inf_nan=False, lt=2**31)]
"""Number of CPUs or GPUs; Ray counts in fractions."""


class GpuKind(Message):
    """The GPUs of one kind."""

    kind: Name
    """Kind as Ray names it, such as ``H100``; ``GPU`` where it names none."""
    total: Amount
    free: Amount


class ClusterReport(Message):
    """Body of a worker's report. ``fault`` says why there is no size; all other members are then as they default."""

    fault: Annotated[str, Field(max_length=500)] | None = None
    ray_version: Annotated[str, Field(max_length=40)] = ""
    nodes: Count = 0
    """Nodes that are alive, the head included; 0 while Ray's first node is not up yet: then there is no size."""
    cpus: Amount = 0.0
    """CPUs that Ray may reserve; a head that takes no work counts none."""
    cpus_free: Amount = 0.0
    gpus: Annotated[tuple[GpuKind, ...], Field(max_length=64)] = ()
    """GPUs that the installation's torch can use, by kind."""
    memory_bytes: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """Memory that Ray may reserve."""
    memory_free_bytes: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0

    @property
    def gpu_count(self) -> float:
        """GPUs of every kind together."""
        return sum(kind.total for kind in self.gpus)


class ResourceBundle(Message):
    """Resources that must lie on one node, and how many times."""

    cpus: Amount
    gpus: Amount
    count: Annotated[int, Field(ge=1, le=65_536)]


def report_path(cluster: str) -> str:
    """Path at which a worker of the cluster reports."""
    return f"/api/v1/link/clusters/{cluster}/report"

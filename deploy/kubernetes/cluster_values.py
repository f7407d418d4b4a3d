"""Values of one Ray cluster: its head, its worker groups, its autoscaling, and its scheduling."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from deploy.kubernetes.checks import LabelKey, Name, Quantity, ValuesPart, amount


class Toleration(ValuesPart):
    """A taint that pods tolerate."""

    key: LabelKey
    value: str | None = None
    """Value of the taint. Default: any."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None
    """Effect of the taint. Default: any."""


class RayNode(ValuesPart):
    """Size of one Ray node, and the machines it may be on."""

    cpu: Annotated[int, Field(ge=1)] = 4
    """Number of cores, also in Ray's accounting."""
    memory: Quantity = "16Gi"
    """Memory, including the shared memory."""
    shared_memory: Quantity | None = None
    """Memory that Ray's objects and NCCL share. Default: one third of the memory."""
    gpus: Annotated[int, Field(ge=0, le=16)] = 0
    """Number of GPUs."""
    gpu_resource: LabelKey = "nvidia.com/gpu"
    """Name under which Kubernetes counts the GPUs, such as nvidia.com/mig-3g.40gb."""
    devices: dict[LabelKey, Annotated[int, Field(ge=1)]] = {}
    """Additional devices by name, such as rdma/ib: 1."""
    runtime_class: Name | None = None
    """Runtime class, such as nvidia, if the machines require one."""
    node_selector: dict[LabelKey, str] = {}
    """Labels of the machines."""
    tolerations: tuple[Toleration, ...] = ()
    """Taints of the machines that are tolerated."""

    @model_validator(mode="after")
    def _shared_memory_fits(self) -> Self:
        if self.shared_memory and amount(self.shared_memory) >= amount(self.memory):
            raise ValueError(f"shared_memory: {self.shared_memory} is not a part of {self.memory} of memory; use less")
        return self

    @model_validator(mode="after")
    def _gpus_are_counted_once(self) -> Self:
        if self.gpu_resource in self.devices:
            raise ValueError(f"devices: {self.gpu_resource} is the resource name of the GPUs; set gpus instead")
        return self


class WorkerGroup(RayNode):
    """Ray nodes of one kind."""

    name: Name
    count: Annotated[int, Field(ge=0, le=4096)] = 1
    """Number of nodes; with autoscaling, the minimum."""
    most: Annotated[int, Field(ge=1, le=4096)] | None = None
    """Maximum number of nodes, with autoscaling."""

    @model_validator(mode="after")
    def _most_is_no_less(self) -> Self:
        if self.most is not None and self.most < self.count:
            raise ValueError(f"most: {self.most} is less than count ({self.count}); raise it")
        return self


class Autoscaling(ValuesPart):
    """Ray's autoscaler, which requests nodes from KubeRay while runs wait for them."""

    idle_seconds: Annotated[int, Field(ge=60)] = 600
    """Seconds without work after which a node is removed."""


class Kueue(ValuesPart):
    """Kueue admits the cluster as a whole or, with autoscaling, its growth."""

    queue: Name
    """LocalQueue in the installation's namespace."""
    priority_class: Name | None = None
    """WorkloadPriorityClass of the cluster."""


class Cluster(ValuesPart):
    """One Ray cluster with the Celery worker that serves it."""

    name: Name
    image: Literal["cpu", "cuda"] = "cuda"
    """Image of its nodes."""
    head: RayNode = RayNode()
    workers: tuple[WorkerGroup, ...] = ()
    """Groups of nodes. Without any, runs compute on the head."""
    autoscaling: Autoscaling | None = None
    """Automatic growth and shrinking of the cluster. Default: it has ``count`` nodes of each group."""
    kueue: Kueue | None = None
    """Quota that the cluster counts against. Default: none."""
    evictable: bool = False
    """Whether nodes may be drained while runs are active: each run then resumes from its checkpoint."""
    code_jail: bool = False
    """Whether pods may create user namespaces, which graders of code and mathematics need (docs/sandbox.md).
    It requires Kubernetes 1.33 or later, and removes the runtime's own system call filter from these pods."""

    @model_validator(mode="after")
    def _gpus_need_cuda(self) -> Self:
        groups = {"head": self.head, **{f"workers.{group.name}": group for group in self.workers}}
        for field, node in groups.items():
            if node.gpus and self.image != "cuda":
                raise ValueError(f"{field}.gpus: the image cpu does not use GPUs; set image: cuda or gpus: 0")
        return self

    @model_validator(mode="after")
    def _groups_differ(self) -> Self:
        names = [group.name for group in self.workers]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"workers: {twice[0]!r} is the name of two groups; give each its own name")
        return self

    @model_validator(mode="after")
    def _growth_has_bounds(self) -> Self:
        for group in self.workers:
            if self.autoscaling and group.most is None:
                raise ValueError(
                    f"workers.{group.name}.most: autoscaling needs a bound; set the maximum number of nodes"
                )
            if not self.autoscaling and group.most is not None:
                raise ValueError(f"workers.{group.name}.most: it has no effect without autoscaling; remove it")
        if self.autoscaling and not self.workers:
            raise ValueError("workers: autoscaling needs a group of workers that may grow; add one")
        return self

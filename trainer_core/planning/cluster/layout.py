"""Sharding of a policy over GPUs: tensor, pipeline and expert parallelism, and messages for what does not fit."""

from dataclasses import dataclass

from trainer_core.planning.cluster.hardware import Cluster
from trainer_core.planning.cluster.scale import Scale
from trainer_core.planning.machines import LIBRARIES
from trainer_core.planning.memory import GIB
from trainer_core.planning.workload import PlanError

WEIGHT_BYTES, OPTIMIZER_BYTES = 6, 12
"""Bytes of one trained parameter: weights in 2 and gradients in 4; masters in 4 and two moments in 8."""
ACTIVATION_BYTES = 8 * GIB
"""Bytes that a learner's GPU reserves for one micro-batch with recomputed activations."""


@dataclass(frozen=True, slots=True)
class EngineLayout:
    """GPUs of one rollout engine. Its experts, if any, are on the same GPUs."""

    tensor: int = 1
    """Tensor parallel size."""
    across_nodes: bool = False
    """Whether an engine may span several hosts: every layer then waits for the network."""
    width: int = 2
    """Bytes of a weight: 2 for bfloat16, 1 for FP8."""

    def cache_bytes(self, cluster: Cluster, scale: Scale, taken: float = 0.0) -> float:
        """Bytes of one engine that weights and libraries leave for keys and values.

        Args:
            cluster: the cluster of the engine.
            scale: the size of the policy.
            taken: bytes of each GPU that something else occupies at the same time.

        Raises:
            PlanError: the engine spans several hosts without permission, or its weights do not fit.
        """
        inside = cluster.node.machine.gpus
        if self.tensor > inside and not self.across_nodes:
            raise PlanError(
                f"tensor parallelism over {self.tensor} GPUs exceeds a host of {inside}: every layer would wait for the"
                " network."
            )
        if self.tensor > cluster.gpus:
            raise PlanError(f"an engine needs {counted(self.tensor)}; there are {cluster.gpus}.")
        weights = scale.parameters * self.width
        room = self.tensor * (cluster.node.machine.memory - LIBRARIES - taken) - weights
        if room <= 0:
            raise PlanError(
                f"the weights of a policy of {scale.parameters / 1e9:.3g} billion parameters take "
                f"{weights / GIB:,.0f} GiB; an engine of {counted(self.tensor)} has "
                f"{max(0.0, room + weights) / GIB:,.0f} GiB for them."
            )
        return room


@dataclass(frozen=True, slots=True)
class LearnerLayout:
    """GPUs that hold one copy of the learner; data parallelism multiplies them."""

    tensor: int = 1
    pipeline: int = 1
    expert: int = 1
    """GPUs that the experts of a layer are spread over; tokens are exchanged between them."""
    shards: int = 1
    """GPUs, each with its own tokens, over which weights, gradients and moments are sharded (ZeRO 3)."""
    cuts_optimizer: bool = False
    """Whether masters and moments are sharded over the copies (ZeRO 1)."""

    @property
    def gpus(self) -> int:
        """GPUs of one copy."""
        return self.tensor * self.pipeline * self.shards

    def bytes(self, scale: Scale, copies: int) -> float:
        """Bytes on one GPU, given the number of ``copies``."""
        split = self.pipeline * self.shards
        numbers = (scale.parameters - scale.routed) / (split * self.tensor)
        numbers += scale.routed / (split * max(self.tensor, self.expert))
        optimizer = OPTIMIZER_BYTES / (copies if self.cuts_optimizer else 1)
        return numbers * (WEIGHT_BYTES + optimizer) + ACTIVATION_BYTES + LIBRARIES

    def check(self, cluster: Cluster, scale: Scale, copies: int = 1) -> None:
        """Raises ``PlanError`` if tensor parallelism exceeds a host, or if the state does not fit."""
        inside, memory = cluster.node.machine.gpus, cluster.node.machine.memory
        if self.tensor > inside:
            raise PlanError(f"tensor parallelism of the learner over {self.tensor} GPUs exceeds a host of {inside}.")
        if self.gpus > cluster.gpus:
            raise PlanError(f"one copy of the learner needs {counted(self.gpus)}; there are {cluster.gpus}.")
        need = self.bytes(scale, copies)
        if need > memory:
            raise PlanError(
                f"a learner of {scale.parameters / 1e9:.3g} billion parameters takes {need / GIB:,.0f} GiB on each of "
                f"{counted(self.gpus)}, which have {memory / GIB:,.0f} GiB."
            )


def counted(gpus: int) -> str:
    """A number of GPUs in words."""
    return f"{gpus} GPU" if gpus == 1 else f"{gpus} GPUs"


def smallest_engine(cluster: Cluster, scale: Scale, width: int = 2, sequence_tokens: float = 1.0) -> EngineLayout:
    """The engine on the fewest GPUs of a host that has as much memory for its cache as for its weights, or else on the
    whole host.

    Raises:
        PlanError: not even a whole host holds the weights and one sequence of ``sequence_tokens``.
    """
    choices = [size for size in (1, 2, 4, 8) if size <= cluster.node.machine.gpus]
    for tensor in choices:
        layout = EngineLayout(tensor, width=width)
        try:
            room = layout.cache_bytes(cluster, scale)
        except PlanError:
            if tensor == choices[-1]:
                raise
            continue
        if room >= scale.parameters * width:
            return layout
    layout = EngineLayout(choices[-1], width=width)
    one = scale.cached_numbers * width * sequence_tokens
    if (room := layout.cache_bytes(cluster, scale)) < one:
        raise PlanError(
            f"one sequence of {sequence_tokens:,.0f} tokens needs {one / GIB:.1f} GiB of cache, and an engine of "
            f"{counted(layout.tensor)} has {room / GIB:.1f} GiB left."
        )
    return layout


def smallest_learner(cluster: Cluster, scale: Scale) -> LearnerLayout:
    """The fewest GPUs, a power of two, that hold one sharded copy of the learner.

    Raises:
        PlanError: not even all GPUs hold it.
    """
    shards = 1
    while LearnerLayout(shards=shards).bytes(scale, 1) > cluster.node.machine.memory and 2 * shards <= cluster.gpus:
        shards *= 2
    layout = LearnerLayout(shards=shards)
    layout.check(cluster, scale)
    return layout

"""The interface of a transport of weights."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from worker.learner.transport.topology import Topology

if TYPE_CHECKING:
    from torch import Tensor

Tensors = Mapping[str, "Tensor"]
"""Weights by Hugging Face name, in the types in which the learner has sent them; tied weights once."""


class WeightTransport(Protocol):
    """Carries the tensors of a version. Its two halves run in different processes; many readers read one version.

    The bundle itself travels through Ray's object store whatever the transport is; ``pack`` decides what stands in it.
    """

    name: str
    """Unique; travels with the bundle."""
    lasts: bool
    """Whether what it has packed can be had until ``keep`` leaves it out. If not, every version travels whole."""
    local: bool = False
    """Whether engines of the learner's host get tensors without a copy on the way: changes alone save nothing there."""

    on_device: bool = False
    """Whether it takes the tensors where the learner has them, instead of in host memory."""

    def refusal(self, topology: Topology) -> str | None:
        """Reason why it cannot serve a run of that topology, as a clause; None where it can. Starts nothing."""
        return None

    def sender(self, topology: Topology) -> WeightTransport:
        """The learner's half for a run of that topology. Engines use the one in ``TRANSPORTS``."""
        return self

    def for_changes(self) -> WeightTransport:
        """The learner's half for changes, which every later bundle carries along."""
        return self

    def pack(self, version: int, layers: Iterable[Tensors]) -> Any:
        """Return what the bundle holds in place of the tensors: anything that pickles. Rank 0 calls it.

        A layer's tensors are the learner's own, and last until the next layer is asked for: what ``pack`` keeps longer
        it copies. It is called once or more often for a version: what has changed travels as tensors too.
        """

    def unpack(self, packed: Any) -> Tensors:
        """The tensors, on an engine's side. Called once or more often for a version, in the order of versions or not,
        while the engine still generates: what takes long, such as the way over a network, belongs here and not into
        the access to single tensors. The learner's half is asked as well, to compare with what it has sent.

        Raises:
            RuntimeError: they cannot be had, or are not what was sent; the message says where they were looked for.
        """

    def keep(self, packed: Collection[Any]) -> None:
        """Give back everything that was packed but these. Rank 0 calls it before it packs a version."""
        return None

    def clean(self, topology: Topology) -> None:
        """Remove what a run of that topology has left and no process holds. The run's end calls it, killed learners or
        not, after all that could read.
        """
        return None

    def close(self) -> None:
        """Give back everything. Called where the learner goes over to another transport."""
        return None

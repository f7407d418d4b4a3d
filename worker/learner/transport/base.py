"""The interface of a transport of weights."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from worker.learner.transport.topology import Topology

if TYPE_CHECKING:
    from torch import Tensor

Tensors = Mapping[str, "Tensor"]
"""Weights by Hugging Face name, in the types that the learner sent; tied weights only once."""


class WeightTransport(Protocol):
    """Carries the tensors of a version. Its two halves run in different processes; many readers read one version.

    The bundle itself always travels through Ray's object store, whatever the transport; ``pack`` decides what is in it.
    """

    name: str
    """Unique; travels with the bundle."""
    lasts: bool
    """Whether packed tensors stay available until ``keep`` leaves them out. If not, every version travels whole."""
    local: bool = False
    """Whether engines on the learner's host get tensors without a copy. Sending only changes saves nothing there."""

    on_device: bool = False
    """Whether it reads the tensors where the learner has them, instead of in host memory."""

    def refusal(self, topology: Topology) -> str | None:
        """Reason why it cannot serve a run of that topology, as a clause; None if it can. Starts nothing."""
        return None

    def sender(self, topology: Topology) -> WeightTransport:
        """The learner's half for a run of that topology. Engines use the one in ``TRANSPORTS``."""
        return self

    def for_changes(self) -> WeightTransport:
        """The learner's half for changes, which every later bundle carries along."""
        return self

    def pack(self, version: int, layers: Iterable[Tensors]) -> Any:
        """Return what the bundle holds instead of the tensors: anything that pickles. Rank 0 calls it.

        A layer's tensors belong to the learner and are valid until the next layer is requested: ``pack`` must copy what
        it keeps longer. It is called once or more for a version: changes also travel as tensors.
        """

    def unpack(self, packed: Any) -> Tensors:
        """The tensors, on an engine's side. Called once or more for a version, in any order of versions, while the
        engine still generates. Slow work, such as a network transfer, belongs here and not in the access to single
        tensors. The learner's half is called as well, to compare with what it has sent.

        Raises:
            RuntimeError: they are not available, or are not what was sent; the message says where they were expected.
        """

    def keep(self, packed: Collection[Any]) -> None:
        """Release everything that was packed except these. Rank 0 calls it before it packs a version."""
        return None

    def clean(self, topology: Topology) -> None:
        """Remove what a run of that topology has left and no process holds. Called at the end of the run, after all
        possible readers, even if learners were killed.
        """
        return None

    def close(self) -> None:
        """Release everything. Called when the learner switches to another transport."""
        return None

"""The interface of a transport of weights."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

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
    """Whether what it has packed can be had as long as anybody refers to it. If not, every version travels whole."""

    def pack(self, version: int, layers: Iterable[Tensors]) -> Any:
        """Return what the bundle holds in place of the tensors: anything that pickles. Rank 0 calls it.

        A layer's tensors are the learner's own, and last until the next layer is asked for: what ``pack`` keeps longer
        it copies. It is called once or more often for a version: what has changed travels as tensors too.
        """

    def unpack(self, packed: Any) -> Tensors:
        """The tensors, on an engine's side, better one by one than all at once. Called once or more often for a
        version, in the order of versions or not.

        Raises:
            RuntimeError: they cannot be had; the message says where they were looked for.
        """

"""The interface of a transport of weights."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Tensors = Mapping[str, NDArray[np.float32]]
"""Weights by Hugging Face name; tied weights once."""


class WeightTransport(Protocol):
    """Carries the tensors of a version. Its two halves run in different processes; many readers read one version.

    The bundle itself travels through Ray's object store whatever the transport is; ``pack`` decides what stands in it.
    """

    name: str
    """Unique; travels with the bundle."""

    def pack(self, version: int, tensors: Tensors) -> Any:
        """Return what the bundle holds in place of the tensors: anything that pickles. Rank 0 calls it once a version.

        The next update may overwrite the tensors: what ``pack`` answers is pickled before; files must be written.
        """

    def unpack(self, packed: Any) -> Tensors:
        """The tensors, on an engine's side. Called once or more often for a version, in the order of versions or not.

        Raises:
            RuntimeError: they cannot be had; the message says where they were looked for.
        """

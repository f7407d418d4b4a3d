"""Ray's object store: readers on the same host map the tensors without a copy, layer by layer."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ray
from numpy.typing import NDArray

from worker.learner.transport.arrays import Stored, as_stored, as_tensor, size_of
from worker.learner.transport.base import Tensors, WeightTransport

if TYPE_CHECKING:
    from torch import Tensor

IN_BUNDLE = 16 << 20
"""Bytes up to which all tensors are in the bundle itself."""
CHANGES_IN_BUNDLE = 64 << 10
"""The same for changes, which every later bundle carries along."""
PULLED_S = 60.0
"""Seconds that a generating engine waits for layers from another host; it fetches the rest one by one."""


@dataclass(frozen=True, slots=True)
class StoredLayer:
    """One layer in the store."""

    names: tuple[str, ...]
    stored: "ray.ObjectRef[dict[str, Stored]]"


class ObjectStore(WeightTransport):
    """The bundle holds the tensors themselves if they are small, otherwise a reference for each layer."""

    name = "object_store"
    lasts = True
    local = True

    def __init__(self, in_bundle: int | None = None) -> None:
        """``in_bundle``: bytes up to which all tensors are in the bundle; None for the default."""
        self._in_bundle = in_bundle

    def for_changes(self) -> "ObjectStore":
        """An instance that puts less into the bundle: all later bundles repeat it until the chain ends."""
        return ObjectStore(CHANGES_IN_BUNDLE)

    def pack(self, version: int, layers: Iterable[Tensors]) -> "dict[str, Stored] | tuple[StoredLayer, ...]":
        """Copy each layer into the store as it arrives: there is never a second copy of more than one layer."""
        held: dict[str, Stored] = {}
        parts: list[StoredLayer] = []
        size, most = 0, IN_BUNDLE if self._in_bundle is None else self._in_bundle
        for layer in layers:
            size += sum(size_of(tensor) for tensor in layer.values())
            if parts or size > most:
                parts += [_put(held)] if held else []
                held = {}
                parts.append(_put({name: as_stored(tensor) for name, tensor in layer.items()}))
            else:
                held |= {name: as_stored(tensor.clone()) for name, tensor in layer.items()}
        return tuple(parts) if parts else held

    def unpack(self, packed: "Mapping[str, Stored | NDArray[Any]] | tuple[StoredLayer, ...]") -> Tensors:
        """The tensors, mapped on access. Layers on another host are fetched immediately."""
        if isinstance(packed, tuple) and packed:
            ray.wait([part.stored for part in packed], num_returns=len(packed), timeout=PULLED_S)
        return MappedTensors(packed)


class MappedTensors(Mapping[str, "Tensor"]):
    """Tensors in the store. Only the layer accessed last is mapped: the store may release the others."""

    def __init__(self, packed: "Mapping[str, Stored | NDArray[Any]] | tuple[StoredLayer, ...]") -> None:
        """Read nothing yet."""
        self._held: Mapping[str, Stored | NDArray[Any]] = {} if isinstance(packed, tuple) else packed
        self._parts = packed if isinstance(packed, tuple) else ()
        self._part_of = {name: part for part in self._parts for name in part.names}
        self._open: StoredLayer | None = None

    def __getitem__(self, name: str) -> "Tensor":
        """The tensor of that name."""
        part = self._part_of.get(name)
        if part is not None and part is not self._open:
            self._held, self._open = ray.get(part.stored), part
        return as_tensor(self._held[name])

    def __iter__(self) -> Iterator[str]:
        """Names in the order of the layers."""
        return iter(self._part_of or self._held)

    def __len__(self) -> int:
        """Number of tensors."""
        return len(self._part_of or self._held)


def _put(layer: dict[str, Stored]) -> StoredLayer:
    return StoredLayer(tuple(layer), ray.put(layer))

"""Memory of one GPU, shared between the processes on it: the learner copies on the device, engines map the copy.

The memory is allocated outside torch's pools and shared through the CUDA runtime's own handles. These name memory of a
live process, leave nothing in any file system, and end with the process that allocated the memory. The copy of a
version occupies its bytes on the device until the next version but one is published.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from worker.learner.transport.base import Tensors, WeightTransport
from worker.learner.transport.layout import LaidOut, LaidTensor, place
from worker.learner.transport.segment import this_host
from worker.learner.transport.topology import Topology

if TYPE_CHECKING:
    from torch import Tensor


class DeviceMemory(Protocol):
    """Device memory that processes can share."""

    def device(self) -> str:
        """Name of the device, the same in every process."""

    def allocate(self, size: int) -> int:
        """Address of ``size`` new bytes. Raises ``RuntimeError`` if there is no room."""

    def free(self, address: int) -> None:
        """Free the bytes at an address."""

    def export(self, address: int) -> bytes:
        """Handle with which another process opens the bytes."""

    def open(self, handle: bytes) -> int:
        """Address, in this process, of another process's bytes. Raises ``RuntimeError`` if they are gone."""

    def shut(self, address: int) -> None:
        """Undo ``open``, after all reads."""

    def view(self, address: int, size: int) -> Tensor:
        """The bytes as a tensor, [size] uint8."""

    def settle(self) -> None:
        """Wait until all copies on the device are done."""


@dataclass(frozen=True, slots=True)
class DeviceLayer:
    """The tensors of one layer."""

    handle: bytes
    size: int
    places: tuple[LaidTensor, ...]


@dataclass(frozen=True, slots=True)
class OnDevice:
    """A version in the memory of a device."""

    host: str
    device: str
    key: str
    parts: tuple[DeviceLayer, ...]


def cuda() -> DeviceMemory:
    """The current CUDA device."""
    from worker.learner.transport.cuda_runtime import CudaRuntime

    return CudaRuntime()


class CudaIpc(WeightTransport):
    """The bundle holds handles to memory on the device."""

    name = "cuda_ipc"
    lasts = True
    local = True
    on_device = True

    def __init__(self, memory: Callable[[], DeviceMemory] = cuda) -> None:
        """``memory`` returns the device's memory when it is first needed."""
        self._make, self._made = memory, list[DeviceMemory]()
        self._held: dict[str, tuple[list[int], Tensors]] = {}

    def refusal(self, topology: Topology) -> str | None:
        """Requires one GPU that all models of the run are on."""
        if topology.device != "cuda":
            return "the run's models are on CPUs"
        if topology.hosts > 1:
            return f"the run's models may be on {topology.hosts} hosts, which share no GPU"
        if topology.cards != 1:
            return f"there are {topology.cards} GPUs, and Ray shows each process only its own"
        return None

    def sender(self, topology: Topology) -> CudaIpc:
        """A separate instance that tracks its own allocations."""
        return CudaIpc(self._make)

    def pack(self, version: int, layers: Iterable[Tensors]) -> OnDevice:
        """Copy each layer into memory that other processes can open."""
        memory, key = self._memory, uuid4().hex
        addresses: list[int] = []
        parts: list[DeviceLayer] = []
        tensors: dict[str, Tensor] = {}
        self._held[key] = addresses, tensors
        for layer in layers:
            if not layer:
                continue
            places = _places(layer)
            size = max(1, places[-1].offset + places[-1].size)
            addresses.append(memory.allocate(size))
            laid = LaidOut(places, memory.view(addresses[-1], size))
            for name, tensor in layer.items():
                laid[name].copy_(tensor)
            tensors |= dict(laid)
            parts.append(DeviceLayer(memory.export(addresses[-1]), size, places))
        memory.settle()
        return OnDevice(this_host(), memory.device(), key, tuple(parts))

    def unpack(self, packed: OnDevice) -> Tensors:
        """The tensors, on the device."""
        if packed.key in self._held:
            return self._held[packed.key][1]
        memory = self._memory
        if (packed.host, packed.device) != (this_host(), memory.device()):
            raise RuntimeError(
                f"the weights are in the memory of GPU {packed.device} and this process has {memory.device()}, or is "
                "on another host"
            )
        return Opened(memory, packed.parts)

    def keep(self, packed: Collection[OnDevice]) -> None:
        """Free the memory of all other versions."""
        kept = {one.key for one in packed}
        for key in [key for key in self._held if key not in kept]:
            for address in self._held.pop(key)[0]:
                self._memory.free(address)

    def close(self) -> None:
        """Free the memory of all versions."""
        self.keep(())

    @property
    def _memory(self) -> DeviceMemory:
        if not self._made:
            self._made.append(self._make())
        return self._made[0]


class Opened(Mapping[str, "Tensor"]):
    """Tensors in another process's memory, open as long as this mapping is."""

    def __init__(self, memory: DeviceMemory, parts: Iterable[DeviceLayer]) -> None:
        """Open all parts."""
        addresses: list[int] = []
        weakref.finalize(self, _shut, memory, addresses)
        self._found: dict[str, Any] = {}
        for part in parts:
            addresses.append(memory.open(part.handle))
            self._found |= dict(LaidOut(part.places, memory.view(addresses[-1], part.size)))

    def __getitem__(self, name: str) -> Tensor:
        """The tensor of that name."""
        found: Tensor = self._found[name]
        return found

    def __iter__(self) -> Iterator[str]:
        """Names in the order of the layers."""
        return iter(self._found)

    def __len__(self) -> int:
        """Number of tensors."""
        return len(self._found)


def _places(layer: Tensors) -> tuple[LaidTensor, ...]:
    places: list[LaidTensor] = []
    end = 0
    for name, tensor in layer.items():
        places.append(place(name, tensor, end))
        end = places[-1].offset + places[-1].size
    return tuple(places)


def _shut(memory: DeviceMemory, addresses: list[int]) -> None:
    memory.settle()
    for address in addresses:
        memory.shut(address)

"""Memory of a device that there is not, which two processes share by handles as they would a card's.

Each allocation is a file in memory; its handle names it by process and number, and is worth nothing once its process
has ended.
"""

from __future__ import annotations

import mmap
import os

import torch
from torch import Tensor

HANDLE_BYTES = 64
Mapped = tuple[int, mmap.mmap, Tensor]


class SharedHostMemory:
    """Implements ``worker.learner.transport.cuda_ipc.DeviceMemory`` in the host's memory."""

    def __init__(self) -> None:
        self._mapped: dict[int, Mapped] = {}

    def device(self) -> str:
        return "GPU-of-the-host"

    def allocate(self, size: int) -> int:
        descriptor = os.memfd_create("device")
        os.ftruncate(descriptor, size)
        return self._map(descriptor, size)

    def free(self, address: int) -> None:
        descriptor, _, _ = self._mapped.pop(address)
        os.close(descriptor)

    def export(self, address: int) -> bytes:
        return f"{os.getpid()}/{self._mapped[address][0]}".encode().ljust(HANDLE_BYTES)

    def open(self, handle: bytes) -> int:
        process, number = handle.decode().strip().split("/")
        try:
            descriptor = os.open(f"/proc/{process}/fd/{number}", os.O_RDWR)
        except OSError as error:
            raise RuntimeError(f"the memory cannot be opened: {error}") from error
        return self._map(descriptor, os.fstat(descriptor).st_size)

    def shut(self, address: int) -> None:
        self.free(address)

    def view(self, address: int, size: int) -> Tensor:
        return self._mapped[address][2][:size]

    def settle(self) -> None: ...

    def _map(self, descriptor: int, size: int) -> int:
        mapped = mmap.mmap(descriptor, size)
        tensor = torch.frombuffer(mapped, dtype=torch.uint8)
        self._mapped[tensor.data_ptr()] = (descriptor, mapped, tensor)
        return tensor.data_ptr()

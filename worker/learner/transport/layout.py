"""Tensors in one block of bytes: where each one is, how its bytes get there, and how it is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from worker.learner.transport.arrays import dtype_name

if TYPE_CHECKING:
    from torch import Tensor

ALIGNMENT = 64
"""Bytes to which tensors are aligned, as in torch's own allocator on a CPU."""


@dataclass(frozen=True, slots=True)
class LaidTensor:
    """One tensor in the block."""

    name: str
    dtype: str
    """Name of its number type in the ``torch`` module."""
    shape: tuple[int, ...]
    offset: int
    size: int
    """Bytes of the tensor."""


def place(name: str, tensor: Tensor, offset: int) -> LaidTensor:
    """The layout of a tensor that is written at ``offset`` or at the next aligned byte."""
    aligned = -(-offset // ALIGNMENT) * ALIGNMENT
    shape, size = tuple(tensor.shape), tensor.numel() * tensor.element_size()
    return LaidTensor(name, dtype_name(tensor.dtype), shape, aligned, size)


def raw(tensor: Tensor) -> Any:
    """A tensor's bytes as a buffer, without a copy if it is contiguous and on a CPU."""
    import torch

    # Any: numpy's stubs do not say that an array is a buffer before Python 3.12.
    found: Any = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    return memoryview(found)


class LaidOut(Mapping[str, "Tensor"]):
    """Tensors in a block of bytes, as read-only views."""

    def __init__(self, places: Sequence[LaidTensor], whole: Tensor) -> None:
        """``whole``: the block, [bytes] uint8."""
        self._places, self._whole = {one.name: one for one in places}, whole

    def __getitem__(self, name: str) -> Tensor:
        """The tensor of that name."""
        import torch

        found = self._places[name]
        part = self._whole[found.offset : found.offset + found.size]
        return part.view(getattr(torch, found.dtype)).reshape(found.shape)

    def __iter__(self) -> Iterator[str]:
        """Names in the order in which they were written."""
        return iter(self._places)

    def __len__(self) -> int:
        """Number of tensors."""
        return len(self._places)

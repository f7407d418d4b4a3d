"""Converts tensors to arrays, which pickle without a copy, and back. Types that numpy lacks travel as integers."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Bits:
    """A tensor of a type that numpy does not know."""

    dtype: str
    bits: NDArray[Any]


Stored = NDArray[Any] | Bits


def as_stored(tensor: Tensor) -> Stored:
    """The same memory as an array."""
    import torch

    tensor = tensor.detach().contiguous()
    if tensor.dtype == torch.bfloat16 or tensor.dtype.itemsize == 1:
        bits = tensor.view(torch.int16 if tensor.dtype.itemsize == 2 else torch.uint8)
        return Bits(dtype_name(tensor.dtype), bits.numpy())
    array: NDArray[Any] = tensor.numpy()
    return array


def as_tensor(stored: Stored | Tensor) -> Tensor:
    """The same memory as a read-only tensor."""
    import torch

    if isinstance(stored, torch.Tensor):
        return stored.detach()
    array = stored.bits if isinstance(stored, Bits) else stored
    with warnings.catch_warnings():
        # Shared-memory views are read-only, which torch cannot express; they are only read here.
        warnings.simplefilter("ignore", UserWarning)
        tensor = torch.from_numpy(array)
    return tensor.view(getattr(torch, stored.dtype)) if isinstance(stored, Bits) else tensor


def dtype_name(dtype: torch.dtype) -> str:
    """Name of a number type, as in the ``torch`` module."""
    return str(dtype).removeprefix("torch.")


def size_of(tensor: Tensor) -> int:
    """Bytes of a tensor's numbers."""
    return tensor.numel() * tensor.element_size()

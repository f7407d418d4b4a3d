"""Tensors as arrays, which pickle without a copy, and back. numpy has no bfloat16: its bits travel as integers."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Bits:
    """A tensor of a type that numpy does not know."""

    dtype: str
    bits: NDArray[np.int16]


Stored = NDArray[Any] | Bits


def as_stored(tensor: Tensor) -> Stored:
    """The same memory as an array."""
    import torch

    tensor = tensor.detach().contiguous()
    if tensor.dtype == torch.bfloat16:
        return Bits("bfloat16", tensor.view(torch.int16).numpy())
    array: NDArray[Any] = tensor.numpy()
    return array


def as_tensor(stored: Stored | Tensor) -> Tensor:
    """The same memory as a tensor, only to be read."""
    import torch

    if isinstance(stored, torch.Tensor):
        return stored.detach()
    array = stored.bits if isinstance(stored, Bits) else stored
    with warnings.catch_warnings():
        # Shared-memory views are read-only, which torch cannot express; they are only read here.
        warnings.simplefilter("ignore", UserWarning)
        tensor = torch.from_numpy(array)
    return tensor.view(getattr(torch, stored.dtype)) if isinstance(stored, Bits) else tensor


def size_of(tensor: Tensor) -> int:
    """Bytes of a tensor's numbers."""
    return tensor.numel() * tensor.element_size()

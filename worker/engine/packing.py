"""Layout of experts' weights as vLLM's CPU kernels pack them.

A kernel packs each matrix [N, K] of a joint tensor in blocks of several rows, and permutes all blocks alike. So the
layout is learnt from the packing itself: two blocks that hold their own indices are packed, and the position of each
index in the result shows where the kernel stores that value. Values are then read, exactly, from the memory that the
kernel multiplies with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

DIGIT = 1 << 14
"""Base of the packed indices. Its digits are bit patterns of small positive numbers in every type."""


@dataclass(frozen=True, slots=True)
class PackedLayout:
    """Positions of the values of a packed matrix [N, K]."""

    block: torch.Tensor
    """Position of each value within its block, int64 [rows of a block, K]."""

    @classmethod
    def learn(cls, kernel: Any, width: int, dtype: torch.dtype) -> PackedLayout | None:
        """The layout in which ``kernel``, one of vLLM's CPU kernels for experts, packs matrices of ``width`` columns.

        Returns:
            None if the kernel does not treat all blocks alike, or does not merely permute values.
        """
        rows = int(kernel.output_alignment)
        size = rows * width
        indices = torch.arange(2 * size).view(1, 2 * rows, width)
        low, high = (_packed(kernel, digit, dtype) for digit in (indices % DIGIT, indices // DIGIT))
        held = (low + DIGIT * high).view(2, size)
        if not torch.equal(held[1], held[0] + size) or not torch.equal(held[0].sort().values, torch.arange(size)):
            return None
        return cls(held[0].argsort().view(rows, width))

    def columns(self, packed: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        """Columns [E, N, C] of the matrices in a packed tensor [E, N, K]."""
        starts = torch.arange(0, packed[0].numel(), self.block.numel())
        places = starts[:, None, None] + self.block[:, columns]
        return _taken(packed, places.view(packed.shape[1], len(columns)))

    def rows(self, packed: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """Rows of the same matrices, as columns [E, K, C] of their transposes."""
        height = len(self.block)
        places = (rows // height * self.block.numel())[:, None] + self.block[rows % height]
        return _taken(packed, places.T)


def packing_kernel(layer: torch.nn.Module) -> Any | None:
    """vLLM's kernel that has packed the experts' weights of a layer; None if they are not packed."""
    from vllm.model_executor.layers.fused_moe.experts.cpu_moe import CPUUnquantizedExperts

    from worker.engine.models.plain_experts import PlainExperts

    kernel = getattr(getattr(getattr(layer, "quant_method", None), "moe_kernel", None), "fused_experts", None)
    if not isinstance(kernel, CPUUnquantizedExperts) or isinstance(kernel, PlainExperts) or kernel._use_zentorch:
        return None
    return kernel


def _packed(kernel: Any, numbers: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Pack numbers as bit patterns of ``dtype`` and return them in the order of the packed memory, int64 [n]."""
    from vllm._custom_ops import cpu_prepack_moe_weight

    whole = torch.int32 if dtype.itemsize == 4 else torch.int16
    packed: torch.Tensor = cpu_prepack_moe_weight(numbers.to(whole).view(dtype), kernel.isa)
    return packed.contiguous().view(whole).flatten().long()


def _taken(packed: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    return packed.flatten(1).index_select(1, places.flatten()).view(len(packed), *places.shape)

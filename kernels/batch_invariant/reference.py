"""On a CPU a library's product depends on the number of rows: here it always sees tiles of the same number.

A tile is padded with zeros. That the row's place in its tile does not matter either is found out once per shape; where
it does, each row is a tile of its own.
"""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

ROWS = 16


def matmul(left: Tensor, right: Tensor) -> Tensor:
    """``left @ rightᵀ`` for left [M, K] and right [N, K]."""
    rows = tile_rows(right.shape[1], right.shape[0], right.dtype)
    return _by_tiles(left, rows, lambda tile: tile @ right.T)


def rms_norm(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """``weight · x / sqrt(mean(x²) + ε)`` of each row of [M, K]."""

    def normalise(tile: Tensor) -> Tensor:
        wide = tile.to(torch.promote_types(tile.dtype, torch.float32))
        return (wide * torch.rsqrt(wide.square().mean(dim=1, keepdim=True) + epsilon) * weight).to(tile.dtype)

    return _by_tiles(x, ROWS, normalise)


def log_softmax(x: Tensor) -> Tensor:
    """Of each row of [M, K]."""
    return _by_tiles(x, ROWS, lambda tile: torch.log_softmax(tile, dim=1))


def _by_tiles(x: Tensor, rows: int, function: Callable[[Tensor], Tensor]) -> Tensor:
    """Apply ``function`` to tiles of ``rows`` rows, each in memory of its own."""
    results = []
    for low in range(0, max(len(x), 1), rows):
        tile = x.new_zeros((rows, x.shape[1]))
        part = x[low : low + rows]
        tile[: len(part)] = part
        results.append(function(tile)[: len(part)])
    return torch.cat(results)


@cache
def tile_rows(width: int, columns: int, dtype: torch.dtype) -> int:
    """Rows of a tile in whose product the row's place makes no difference to any bit."""
    generator = torch.Generator().manual_seed(0)
    row = torch.randn(1, width, generator=generator).to(dtype)
    right = torch.randn(columns, width, generator=generator).to(dtype)
    same = row.expand(ROWS, width).contiguous() @ right.T
    lone = torch.zeros((ROWS, width), dtype=dtype)
    lone[0] = row
    # All places the same, and the neighbours without influence.
    return ROWS if bool((same == (lone @ right.T)[:1]).all()) else 1

"""Tiles of a fixed number of rows, because on a CPU a library's product depends on the number of rows.

The last tile is padded with zeros. Once per shape it is checked whether a row's position in its tile matters. If it
does, each row is its own tile.
"""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

ROWS = 128
"""Rows of a product's tile. With fewer, the library spends more time repacking the other side than computing."""
ELEMENTS = 1 << 16
"""Elements in a tile of anything else."""
ALIGNMENT = 64
"""Alignment of a tile in bytes: libraries take other code paths for data that crosses cache lines."""


def matmul(left: Tensor, right: Tensor) -> Tensor:
    """``left @ rightᵀ`` for left [M, K] and right [N, K]."""
    rows = tile_rows(right.shape[1], right.shape[0], right.dtype)
    other = right.T
    return _by_tiles(left, rows, lambda tile: tile @ other)


def rms_norm(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """``weight · x / sqrt(mean(x²) + ε)`` of each row of [M, K]."""

    def normalise(tile: Tensor) -> Tensor:
        wide = tile.to(torch.promote_types(tile.dtype, torch.float32))
        return (wide * torch.rsqrt(wide.square().mean(dim=1, keepdim=True) + epsilon) * weight).to(tile.dtype)

    return _by_tiles(x, _height(x), normalise)


def log_softmax(x: Tensor) -> Tensor:
    """Log-softmax of each row of [M, K]."""
    return _by_tiles(x, _height(x), lambda tile: torch.log_softmax(tile, dim=1))


def _height(x: Tensor) -> int:
    """Rows of a tile if each row is computed separately: as many as the width of one row allows."""
    return max(1, ELEMENTS // max(1, x.shape[1]))


def _by_tiles(x: Tensor, rows: int, function: Callable[[Tensor], Tensor]) -> Tensor:
    """Apply ``function`` to tiles of ``rows`` rows, all with the same alignment."""
    results = []
    x = x.contiguous()
    for low in range(0, max(len(x), 1), rows):
        tile = part = x[low : low + rows]
        if len(part) < rows or part.data_ptr() % ALIGNMENT:
            tile = x.new_zeros((rows, x.shape[1]))
            tile[: len(part)] = part
        results.append(function(tile)[: len(part)])
    return results[0] if len(results) == 1 else torch.cat(results)


@cache
def tile_rows(width: int, columns: int, dtype: torch.dtype) -> int:
    """Rows of a tile whose product does not depend on a row's position, to the last bit."""
    generator = torch.Generator().manual_seed(0)
    row = torch.randn(1, width, generator=generator).to(dtype)
    right = torch.randn(columns, width, generator=generator).to(dtype)
    same = row.expand(ROWS, width).contiguous() @ right.T
    lone = torch.zeros((ROWS, width), dtype=dtype)
    lone[0] = row
    # All positions give the same result, and neighbours have no influence.
    return ROWS if bool((same == (lone @ right.T)[:1]).all()) else 1

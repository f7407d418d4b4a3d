"""Batch-invariant operations on a GPU: fixed tiles, with the sum over K always in the same order and never split.

The other operations use tiles whose shape depends only on the row length.
"""

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from kernels.rms_norm.triton import forward as rms_norm_forward


class MatmulTiles(NamedTuple):
    """Tiles of a product. They depend only on the type, because the order of a sum must not depend on the batch."""

    rows: int
    columns: int
    depth: int
    warps: int
    stages: int


TILES = {2: MatmulTiles(128, 128, 64, 8, 3), 4: MatmulTiles(64, 128, 16, 8, 2)}
"""Tiles by element size in bytes."""
BAND = 8
"""Row tiles that are processed together, so that their reads of the other side are still in the cache."""
BLOCK = 1024


@triton.jit
def _matmul(
    left: tl.tensor,
    right: tl.tensor,
    out: tl.tensor,
    M: int,
    N: int,
    K: int,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    BAND: tl.constexpr,
    WHOLE: tl.constexpr,
) -> None:
    """``WHOLE``: K is a multiple of BK."""
    program, across = tl.program_id(0), tl.cdiv(N, BN)
    band = program // (BAND * across)
    high = tl.minimum(tl.cdiv(M, BM) - band * BAND, BAND)
    within = program % (BAND * across)
    rows = ((band * BAND + within % high) * BM + tl.arange(0, BM)).to(tl.int64)
    columns = (within // high * BN + tl.arange(0, BN)).to(tl.int64)
    depth = tl.arange(0, BK)
    # Rows behind the end are read from its start, and their results are written nowhere.
    lefts = left + (rows % M)[:, None] * K + depth[None, :]
    rights = right + (columns % N)[None, :] * K + depth[:, None]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for low in range(0, K, BK):
        if WHOLE:
            a, b = tl.load(lefts), tl.load(rights)
        else:
            rest = K - low
            a = tl.load(lefts, mask=depth[None, :] < rest, other=0.0)
            b = tl.load(rights, mask=depth[:, None] < rest, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
        lefts += BK
        rights += BK
    shown = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(out + rows[:, None] * N + columns[None, :], total.to(out.dtype.element_ty), mask=shown)


@triton.jit
def _log_softmax(x: tl.tensor, out: tl.tensor, K: int, BLOCK: tl.constexpr) -> None:
    row = tl.program_id(0).to(tl.int64) * K
    lane = tl.arange(0, BLOCK)
    top = -float("inf")
    for low in range(0, K, BLOCK):
        part = tl.load(x + row + low + lane, mask=low + lane < K, other=-float("inf")).to(tl.float32)
        top = tl.maximum(top, tl.max(part, axis=0))
    total = 0.0
    for low in range(0, K, BLOCK):
        part = tl.load(x + row + low + lane, mask=low + lane < K, other=-float("inf")).to(tl.float32)
        total += tl.sum(tl.exp(part - top), axis=0)
    for low in range(0, K, BLOCK):
        known = low + lane < K
        part = tl.load(x + row + low + lane, mask=known, other=0.0).to(tl.float32)
        tl.store(out + row + low + lane, ((part - top) - tl.log(total)).to(out.dtype.element_ty), mask=known)


def matmul(left: Tensor, right: Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """Computes ``reference.matmul``, summed in float32; the result is in ``dtype``, by default that of ``left``."""
    (rows, depth), columns = left.shape, len(right)
    out = torch.empty((rows, columns), dtype=dtype or left.dtype, device=left.device)
    if rows and columns:
        tiles = TILES[left.element_size()]
        grid = (triton.cdiv(rows, tiles.rows) * triton.cdiv(columns, tiles.columns),)
        with torch.cuda.device_of(left):
            _matmul[grid](
                left.contiguous(), right.contiguous(), out, rows, columns, depth,
                BM=tiles.rows, BN=tiles.columns, BK=tiles.depth, BAND=BAND, WHOLE=depth % tiles.depth == 0,
                num_warps=tiles.warps, num_stages=tiles.stages,
            )  # fmt: skip
    return out


def rms_norm(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """Computes ``reference.rms_norm``: a row's tile, and so its summation order, depends only on the row length."""
    return rms_norm_forward(x, weight, epsilon, "rounded_last")[0]


def log_softmax(x: Tensor) -> Tensor:
    """Computes ``reference.log_softmax``."""
    out = torch.empty_like(x, memory_format=torch.contiguous_format)
    if len(x):
        with torch.cuda.device_of(x):
            _log_softmax[(len(x),)](x.contiguous(), out, x.shape[1], BLOCK=BLOCK)
    return out

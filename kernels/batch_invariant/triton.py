"""On a GPU: fixed tiles, the sum over K always in the same order and never split, one row per program elsewhere."""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

TILE_M, TILE_N, TILE_K = 64, 64, 32
BLOCK = 1024


@triton.jit
def _matmul(
    left: Any, right: Any, out: Any, M: int, N: int, K: int, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
) -> None:
    rows = (tl.program_id(0) * BM + tl.arange(0, BM)).to(tl.int64)
    columns = (tl.program_id(1) * BN + tl.arange(0, BN)).to(tl.int64)
    depth = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for low in range(0, K, BK):
        k = low + depth
        a = tl.load(left + rows[:, None] * K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(
            right + columns[:, None] * K + k[None, :], mask=(columns[:, None] < N) & (k[None, :] < K), other=0.0
        )
        total += tl.dot(a, tl.trans(b), input_precision="ieee")
    shown = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(out + rows[:, None] * N + columns[None, :], total.to(out.dtype.element_ty), mask=shown)


@triton.jit
def _rms_norm(x: Any, weight: Any, out: Any, K: int, epsilon: float, BLOCK: tl.constexpr) -> None:
    row = tl.program_id(0).to(tl.int64) * K
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for low in range(0, K, BLOCK):
        part = tl.load(x + row + low + lane, mask=low + lane < K, other=0.0).to(tl.float32)
        total += part * part
    scale = 1.0 / tl.sqrt(tl.sum(total, axis=0) / K + epsilon)
    for low in range(0, K, BLOCK):
        known = low + lane < K
        part = tl.load(x + row + low + lane, mask=known, other=0.0).to(tl.float32)
        told = part * scale * tl.load(weight + low + lane, mask=known, other=0.0).to(tl.float32)
        tl.store(out + row + low + lane, told.to(out.dtype.element_ty), mask=known)


@triton.jit
def _log_softmax(x: Any, out: Any, K: int, BLOCK: tl.constexpr) -> None:
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


def matmul(left: Tensor, right: Tensor) -> Tensor:
    """As ``reference.matmul``, summed in float32."""
    (rows, depth), columns = left.shape, len(right)
    out = torch.empty((rows, columns), dtype=left.dtype, device=left.device)
    if rows and columns:
        grid = (triton.cdiv(rows, TILE_M), triton.cdiv(columns, TILE_N))
        _matmul[grid](left.contiguous(), right.contiguous(), out, rows, columns, depth, BM=TILE_M, BN=TILE_N, BK=TILE_K)
    return out


def rms_norm(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """As ``reference.rms_norm``."""
    out = torch.empty_like(x)
    if len(x):
        _rms_norm[(len(x),)](x.contiguous(), weight.contiguous(), out, x.shape[1], epsilon, BLOCK=BLOCK)
    return out


def log_softmax(x: Tensor) -> Tensor:
    """As ``reference.log_softmax``."""
    out = torch.empty_like(x)
    if len(x):
        _log_softmax[(len(x),)](x.contiguous(), out, x.shape[1], BLOCK=BLOCK)
    return out

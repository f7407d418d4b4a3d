"""The same on a GPU: a tile holds as many whole rows as fit, and is read once.

A program of the backward pass processes many tiles and sums its share of the weight's gradient in registers.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

TILE_ELEMENTS = 2048
"""Number of elements in one tile; a longer row is its own tile."""
PROGRAMS = 1024
"""Number of programs of a backward pass that keeps a GPU with about 130 multiprocessors busy."""
WIDE_ROW = 8192
"""Row length from which twice the warps are used."""


@triton.jit
def _norm(
    x: tl.tensor,
    weight: tl.tensor,
    out: tl.tensor,
    scales: tl.tensor,
    rows: int,
    K: int,
    epsilon: float,
    GAIN: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    lane = tl.arange(0, BLOCK)
    known = (row[:, None] < rows) & (lane[None, :] < K)
    spots = row[:, None] * K + lane[None, :]
    wide = tl.load(x + spots, mask=known, other=0.0).to(tl.float32)
    factor = tl.load(weight + lane, mask=lane < K, other=0.0).to(tl.float32)[None, :]
    scale = 1.0 / tl.sqrt(tl.sum(wide * wide, axis=1) / K + epsilon)
    unit = wide * scale[:, None]
    if GAIN == "rounded_first":
        unit = unit.to(out.dtype.element_ty).to(tl.float32)
    if GAIN == "offset":
        factor = factor + 1.0
    tl.store(out + spots, (unit * factor).to(out.dtype.element_ty), mask=known)
    tl.store(scales + row, scale, mask=row < rows)


@triton.jit
def _flow(
    slope: tl.tensor,
    x: tl.tensor,
    scales: tl.tensor,
    weight: tl.tensor,
    to_x: tl.tensor,
    shares: tl.tensor,
    rows: int,
    K: int,
    tiles: int,
    GAIN: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """Gradients of ``tiles`` tiles; see the reference for the formula. ``shares`` [programs, K] are of the weight."""
    program = tl.program_id(0)
    lane = tl.arange(0, BLOCK)
    factor = tl.load(weight + lane, mask=lane < K, other=0.0).to(tl.float32)[None, :]
    if GAIN == "offset":
        factor = factor + 1.0
    share = tl.zeros((BLOCK,), dtype=tl.float32)
    for number in range(0, tiles):
        row = (program.to(tl.int64) * tiles + number) * ROWS + tl.arange(0, ROWS)
        known = (row[:, None] < rows) & (lane[None, :] < K)
        spots = row[:, None] * K + lane[None, :]
        scale = tl.load(scales + row, mask=row < rows, other=0.0)[:, None]
        unit = tl.load(x + spots, mask=known, other=0.0).to(tl.float32) * scale
        flow = tl.load(slope + spots, mask=known, other=0.0).to(tl.float32)
        share += tl.sum(flow * unit, axis=0)
        flow = flow * factor
        mean = tl.sum(flow * unit, axis=1)[:, None] / K
        tl.store(to_x + spots, ((flow - unit * mean) * scale).to(to_x.dtype.element_ty), mask=known)
    tl.store(shares + program * K + lane, share, mask=lane < K)


def forward(x: Tensor, weight: Tensor, epsilon: float, gain: str) -> tuple[Tensor, Tensor]:
    """Computes ``reference.forward``."""
    x, size = x.contiguous(), x.shape[-1]
    out = torch.empty_like(x)
    scale = torch.empty((*x.shape[:-1], 1), dtype=torch.float32, device=x.device)
    rows, shape = scale.numel(), _tile(size)
    if rows:
        with torch.cuda.device_of(x):
            _norm[(triton.cdiv(rows, shape["ROWS"]),)](
                x, weight.contiguous(), out, scale, rows, size, epsilon, GAIN=gain, **shape
            )
    return out, scale


def backward(slope: Tensor, x: Tensor, scale: Tensor, weight: Tensor, gain: str) -> tuple[Tensor, Tensor]:
    """Computes ``reference.backward``."""
    x, slope, size = x.contiguous(), slope.contiguous(), x.shape[-1]
    to_x = torch.empty_like(x)
    rows, shape = scale.numel(), _tile(size)
    if not rows:
        return to_x, torch.zeros_like(weight)
    whole = triton.cdiv(rows, shape["ROWS"])
    tiles = triton.cdiv(whole, PROGRAMS)
    programs = triton.cdiv(whole, tiles)
    shares = torch.empty((programs, size), dtype=torch.float32, device=x.device)
    with torch.cuda.device_of(x):
        _flow[(programs,)](slope, x, scale, weight.contiguous(), to_x, shares, rows, size, tiles, GAIN=gain, **shape)
    return to_x, shares.sum(0).to(weight.dtype)


def _tile(size: int) -> dict[str, int]:
    block = triton.next_power_of_2(size)
    return {"ROWS": max(1, TILE_ELEMENTS // block), "BLOCK": block, "num_warps": 8 if block >= WIDE_ROW else 4}

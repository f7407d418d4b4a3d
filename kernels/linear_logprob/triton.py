"""The same on a GPU: matrix products in the vendor's library, everything else on a tile in one Triton pass.

The product always returns float32 logits. One tile holds all tokens and a run of columns.
"""

from collections.abc import Callable

import torch
import triton
import triton.language as tl
from torch import Tensor

from kernels.batch_invariant.triton import matmul
from kernels.linear_logprob.reference import LOWEST, InputGradients, OutputLayerInputs, Saved

TILE_ELEMENTS = 1 << 26
"""Number of logits in one tile."""
INVARIANT_TOKENS = 8192
"""Number of tokens assumed if the width of a tile must not depend on the real number."""
BLOCK = 1024


@triton.jit
def _merge(
    logits: tl.tensor,
    heat: tl.tensor,
    targets: tl.tensor,
    top: tl.tensor,
    total: tl.tensor,
    mixed: tl.tensor,
    chosen: tl.tensor,
    first: int,
    width: int,
    BLOCK: tl.constexpr,
) -> None:
    """Merge one row of a tile into the running maximum a, Σ e^(z − a) and Σ e^(z − a)·(z − a)."""
    row = tl.program_id(0).to(tl.int64)
    cool = 1.0 / tl.load(heat + row)
    a, s, u = tl.load(top + row), tl.load(total + row), tl.load(mixed + row)
    for start in range(0, width, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        z = tl.load(logits + row * width + columns, mask=columns < width, other=-float("inf")) * cool
        new = tl.maximum(a, tl.max(z, axis=0))
        # e^(−∞)·(−∞) is 0 here: the bound is far below what the exponential can tell from 0.
        shifted = tl.maximum(z - new, -1e4)
        powers = tl.exp(shifted)
        moved = tl.maximum(a - new, -1e30)
        factor = tl.exp(moved)
        u = factor * (u + moved * s) + tl.sum(powers * shifted, axis=0)
        s = factor * s + tl.sum(powers, axis=0)
        a = new
    tl.store(top + row, a)
    tl.store(total + row, s)
    tl.store(mixed + row, u)
    target = tl.load(targets + row) - first
    inside = (target >= 0) & (target < width)
    here = tl.where(inside, target, 0)
    picked = tl.load(logits + row * width + here) * cool
    tl.store(chosen + row, picked, mask=inside)


@triton.jit
def _flow(
    logits: tl.tensor,
    result: tl.tensor,
    heat: tl.tensor,
    targets: tl.tensor,
    logsumexp: tl.tensor,
    entropy: tl.tensor,
    slope: tl.tensor,
    tilt: tl.tensor,
    first: int,
    width: int,
    TILTED: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """Gradient of one block of a row of logits; see the reference for the formula."""
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    known = columns < width
    cool = 1.0 / tl.load(heat + row)
    rise = tl.load(slope + row)
    z = tl.load(logits + row * width + columns, mask=known, other=-float("inf")) * cool - tl.load(logsumexp + row)
    probability = tl.exp(z)
    weight = rise
    if TILTED:
        weight = rise + tl.load(tilt + row) * (tl.where(probability == 0, 0.0, z) + tl.load(entropy + row))
    target = tl.load(targets + row) - first
    gradient = (tl.where(columns == target, rise, 0.0) - probability * weight) * cool
    tl.store(result + row * width + columns, gradient.to(result.dtype.element_ty), mask=known)


def row_tile(hidden: Tensor, weight: Tensor) -> int:
    """Computes ``reference.row_tile``: the rows of a product's tile are independent here."""
    return 1


def forward(given: OutputLayerInputs, *, batch_invariant: bool = False) -> tuple[Tensor, Saved]:
    """Computes ``reference.forward``."""
    tokens, vocabulary = len(given.hidden), len(given.weight)
    heat, targets = given.temperature.float().contiguous(), given.targets.contiguous()
    top = torch.full((tokens,), LOWEST, dtype=torch.float32, device=given.hidden.device)
    total, mixed, chosen = torch.zeros_like(top), torch.zeros_like(top), torch.zeros_like(top)
    for first, width in _runs(INVARIANT_TOKENS if batch_invariant else tokens, vocabulary):
        logits = _logits(given, first, width, matmul if batch_invariant else _product)
        if tokens:
            with torch.cuda.device_of(logits):
                _merge[(tokens,)](logits, heat, targets, top, total, mixed, chosen, first, width, BLOCK=BLOCK)
    log_total = total.log()
    return (chosen - top) - log_total, Saved(top + log_total, log_total - mixed / total)


def backward(
    slope: Tensor | None,
    entropy_slope: Tensor | None,
    saved: Saved,
    given: OutputLayerInputs,
    needs: tuple[bool, bool, bool],
) -> InputGradients:
    """Computes ``reference.backward``."""
    hidden, weight, bias, tokens = given.hidden, given.weight, given.bias, len(given.hidden)
    heat, targets = given.temperature.float().contiguous(), given.targets.contiguous()
    rise = torch.zeros_like(saved.logsumexp) if slope is None else slope.float().contiguous()
    tilt = rise if entropy_slope is None else entropy_slope.float().contiguous()
    to_hidden = torch.zeros(hidden.shape, dtype=torch.float32, device=hidden.device) if needs[0] else None
    to_weight = torch.zeros_like(weight) if needs[1] else None
    to_bias = torch.zeros_like(bias) if needs[2] and bias is not None else None
    for first, width in _runs(tokens, len(weight)):
        columns = slice(first, first + width)
        logits = _logits(given, first, width, _product)
        flow = torch.empty(logits.shape, dtype=weight.dtype, device=weight.device)
        if tokens:
            grid = (tokens, triton.cdiv(width, BLOCK))
            with torch.cuda.device_of(logits):
                _flow[grid](
                    logits, flow, heat, targets, saved.logsumexp, saved.entropy, rise, tilt, first, width,
                    TILTED=entropy_slope is not None, BLOCK=BLOCK,
                )  # fmt: skip
        if to_hidden is not None:
            to_hidden += _product(flow, weight[columns].T)
        if to_weight is not None:
            to_weight[columns] = _product(flow.T, hidden.T).to(weight.dtype)
        if to_bias is not None:
            to_bias[columns] = flow.float().sum(0).to(to_bias.dtype)
    return InputGradients(None if to_hidden is None else to_hidden.to(hidden.dtype), to_weight, to_bias)


def _runs(tokens: int, vocabulary: int) -> list[tuple[int, int]]:
    width = max(BLOCK, TILE_ELEMENTS // max(1, tokens))
    return [(first, min(width, vocabulary - first)) for first in range(0, vocabulary, width)]


def _logits(
    given: OutputLayerInputs, first: int, width: int, product: Callable[[Tensor, Tensor, torch.dtype], Tensor]
) -> Tensor:
    """One tile in float32, not yet divided by the temperature."""
    columns = slice(first, first + width)
    logits = product(given.hidden, given.weight[columns], torch.float32)
    return logits if given.bias is None else logits.add_(given.bias[columns])


def _product(left: Tensor, right: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """``left @ rightᵀ`` by the vendor's library, computed and summed in ``dtype``."""
    if left.is_cuda and left.dtype != dtype:
        return torch.mm(left, right.T, out_dtype=dtype)
    return left.to(dtype) @ right.to(dtype).T

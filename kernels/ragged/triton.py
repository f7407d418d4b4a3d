"""The same on a GPU: one program per group, and one per sequence and period."""

import torch
import triton
import triton.language as tl
from torch import Tensor

BLOCK = 256


@triton.jit
def _statistics(values: tl.tensor, starts: tl.tensor, result: tl.tensor, groups: int, BLOCK: tl.constexpr) -> None:
    """``result`` [4, groups]: mean, variance, minimum, maximum."""
    group = tl.program_id(0)
    first, last = tl.load(starts + group), tl.load(starts + group + 1)
    lane = tl.arange(0, BLOCK)
    count = tl.maximum(last - first, 1)
    total = 0.0
    low, high = float("inf"), -float("inf")
    for start in range(first, last, BLOCK):
        known = start + lane < last
        total += tl.sum(tl.load(values + start + lane, mask=known, other=0.0), axis=0)
        low = tl.minimum(low, tl.min(tl.load(values + start + lane, mask=known, other=float("inf")), axis=0))
        high = tl.maximum(high, tl.max(tl.load(values + start + lane, mask=known, other=-float("inf")), axis=0))
    mean = total / count
    spread = 0.0
    for start in range(first, last, BLOCK):
        known = start + lane < last
        apart = tl.where(known, tl.load(values + start + lane, mask=known, other=0.0) - mean, 0.0)
        spread += tl.sum(apart * apart, axis=0)
    some = last > first
    tl.store(result + group, mean)
    tl.store(result + groups + group, spread / count)
    tl.store(result + 2 * groups + group, tl.where(some, low, 0.0))
    tl.store(result + 3 * groups + group, tl.where(some, high, 0.0))


@triton.jit
def _matching(tokens: tl.tensor, starts: tl.tensor, result: tl.tensor, sequences: int, BLOCK: tl.constexpr) -> None:
    """Last place of a sequence that differs from the one a period before it; from the end, until it is found."""
    sequence, period = tl.program_id(0), tl.program_id(1) + 1
    first, last = tl.load(starts + sequence), tl.load(starts + sequence + 1)
    lane = tl.arange(0, BLOCK)
    stop = first + period - 1
    found = first + period - 1
    high = last
    while high > stop + 1:
        place = high - 1 - lane
        inside = place > stop
        here = tl.load(tokens + place, mask=inside, other=0)
        before = tl.load(tokens + place - period, mask=inside, other=0)
        found = tl.maximum(found, tl.max(tl.where(inside & (here != before), place, -1), axis=0))
        high = tl.where(found > stop, stop, high - BLOCK)
    repeats = (last - 1 - found) // period + 1
    tl.store(result + (period - 1) * sequences + sequence, tl.where(last - first > period, repeats, 0))


def group_statistics(values: Tensor, starts: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Computes ``reference.group_statistics`` in float32."""
    groups = len(starts) - 1
    result = torch.empty((4, groups), dtype=torch.float32, device=values.device)
    if groups:
        with torch.cuda.device_of(values):
            _statistics[(groups,)](values.float().contiguous(), starts.contiguous(), result, groups, BLOCK=BLOCK)
    mean, variance, low, high = result.unbind()
    return mean, variance, low, high


def repeats_at_end(tokens: Tensor, starts: Tensor, max_period: int) -> Tensor:
    """Computes ``reference.repeats_at_end``."""
    sequences = len(starts) - 1
    found = torch.zeros((max_period + 1, sequences), dtype=torch.int64, device=tokens.device)
    found[-1] = starts.diff().clamp(max=1)
    if sequences and max_period:
        grid = (sequences, max_period)
        with torch.cuda.device_of(tokens):
            _matching[grid](tokens.contiguous(), starts.contiguous(), found, sequences, BLOCK=BLOCK)
    return found.amax(dim=0)

"""One pass on a GPU: a program reads a block of tokens once and writes loss, slope and its partial sums."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from kernels.policy_loss.reference import LOG_BOUND, SUMS

BLOCK = 1024


@triton.jit
def _pass(
    logprobs: tl.tensor,
    old: tl.tensor,
    behaviour: tl.tensor,
    advantages: tl.tensor,
    mask: tl.tensor,
    loss: tl.tensor,
    slope: tl.tensor,
    partial: tl.tensor,
    tokens: int,
    ratio_min: float,
    ratio_max: float,
    WEIGHT_CLIP: tl.constexpr,
    BOUND: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """``partial`` [blocks, 11]: the sums in their order, then minimum and maximum of the ratio."""
    block = tl.program_id(0)
    place = block * BLOCK + tl.arange(0, BLOCK)
    known = place < tokens
    counts = (tl.load(mask + place, mask=known, other=0) != 0) & known
    current = tl.load(logprobs + place, mask=counts, other=0.0)
    before = tl.load(old + place, mask=counts, other=0.0)
    sampler = tl.load(behaviour + place, mask=counts, other=0.0)
    advantage = tl.load(advantages + place, mask=counts, other=0.0)
    free = current - before
    log_ratio = tl.minimum(tl.maximum(free, -BOUND), BOUND)
    ratio = tl.exp(log_ratio)
    clipped = tl.minimum(tl.maximum(ratio, ratio_min), ratio_max)
    under, over = (ratio < ratio_min) & (advantage != 0), (ratio > ratio_max) & (advantage != 0)
    if WEIGHT_CLIP:
        incline = -clipped * advantage
        value = incline * current
    else:
        under, over = under & (advantage < 0), over & (advantage > 0)
        binds = under | over
        value = -advantage * tl.where(binds, clipped, ratio)
        incline = tl.where(binds | (tl.abs(free) > BOUND), 0.0, -advantage * ratio)
    tl.store(loss + place, value, mask=known)
    tl.store(slope + place, incline, mask=known)
    weight = tl.exp(tl.minimum(tl.maximum(before - sampler, -BOUND), BOUND))
    one = counts.to(tl.float32)
    row = partial + block * 11
    tl.store(row, tl.sum(one, axis=0))
    tl.store(row + 1, tl.sum(one * ratio, axis=0))
    tl.store(row + 2, tl.sum(one * ratio * ratio, axis=0))
    tl.store(row + 3, tl.sum(one * under, axis=0))
    tl.store(row + 4, tl.sum(one * over, axis=0))
    tl.store(row + 5, tl.sum(-free, axis=0))
    tl.store(row + 6, tl.sum(one * (ratio - 1.0 - log_ratio), axis=0))
    tl.store(row + 7, tl.sum(one * weight, axis=0))
    tl.store(row + 8, tl.sum(one * weight * weight, axis=0))
    tl.store(row + 9, tl.min(tl.where(counts, ratio, float("inf")), axis=0))
    tl.store(row + 10, tl.max(tl.where(counts, ratio, -float("inf")), axis=0))


def forward(
    logprobs: Tensor,
    old: Tensor,
    behaviour: Tensor,
    advantages: Tensor,
    mask: Tensor,
    ratio_min: float,
    ratio_max: float,
    weight_clip: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Computes ``reference.forward`` in float32, including sums within a block."""
    given = [part.float().contiguous() for part in (logprobs, old, behaviour, advantages)]
    loss, slope = torch.empty_like(given[0]), torch.empty_like(given[0])
    blocks = triton.cdiv(len(logprobs), BLOCK)
    partial = torch.empty((blocks, len(SUMS) + 2), dtype=torch.float32, device=logprobs.device)
    if blocks:
        counts = mask.to(torch.int8).contiguous()
        with torch.cuda.device_of(logprobs):
            _pass[(blocks,)](
                *given, counts, loss, slope, partial, len(logprobs), ratio_min, ratio_max,
                WEIGHT_CLIP=weight_clip, BOUND=LOG_BOUND, BLOCK=BLOCK,
            )  # fmt: skip
    ends = torch.tensor([torch.inf, -torch.inf], device=logprobs.device)
    if blocks:
        ends = torch.stack([partial[:, -2].min(), partial[:, -1].max()])
    return loss, slope, partial[:, :-2].double().sum(0), ends

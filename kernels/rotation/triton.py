"""The same on a GPU: a program rotates the heads of one token."""

import torch
import triton
import triton.language as tl
from torch import Tensor

HEADS = 4
"""Number of heads in one tile."""


@triton.jit
def _rotate(
    x: tl.tensor,
    cosine: tl.tensor,
    sine: tl.tensor,
    out: tl.tensor,
    heads: int,
    token_step: int,
    head_step: int,
    out_token_step: int,
    out_head_step: int,
    HALF: tl.constexpr,
    BLOCK: tl.constexpr,
    HEADS: tl.constexpr,
    BACK: tl.constexpr,
) -> None:
    """Turn one token's heads; products are rounded to the type before they are added.

    The numbers of a head lie side by side in ``x`` and ``out``.
    """
    token = tl.program_id(0).to(tl.int64)
    kind = out.dtype.element_ty
    lane = tl.arange(0, BLOCK)
    own = lane < HALF
    angles = token * 2 * HALF + lane
    low_cosine = tl.load(cosine + angles, mask=own, other=0.0).to(tl.float32)[None, :]
    high_cosine = tl.load(cosine + angles + HALF, mask=own, other=0.0).to(tl.float32)[None, :]
    low_sine = tl.load(sine + angles, mask=own, other=0.0).to(tl.float32)[None, :]
    high_sine = tl.load(sine + angles + HALF, mask=own, other=0.0).to(tl.float32)[None, :]
    for first in range(0, heads, HEADS):
        head = first + tl.arange(0, HEADS)
        known = (head[:, None] < heads) & own[None, :]
        spots = token * token_step + head[:, None] * head_step + lane[None, :]
        low = tl.load(x + spots, mask=known, other=0.0).to(tl.float32)
        high = tl.load(x + spots + HALF, mask=known, other=0.0).to(tl.float32)
        if BACK:
            low_turned, high_turned = high * high_sine, -low * low_sine
        else:
            low_turned, high_turned = -high * low_sine, low * high_sine
        told = token * out_token_step + head[:, None] * out_head_step + lane[None, :]
        low_out = (low * low_cosine).to(kind).to(tl.float32) + low_turned.to(kind).to(tl.float32)
        high_out = (high * high_cosine).to(kind).to(tl.float32) + high_turned.to(kind).to(tl.float32)
        tl.store(out + told, low_out.to(kind), mask=known)
        tl.store(out + told + HALF, high_out.to(kind), mask=known)


def rotated(x: Tensor, cosine: Tensor, sine: Tensor, *, back: bool = False) -> Tensor:
    """Computes ``reference.rotated``."""
    if x.stride(2) != 1:
        x = x.contiguous()
    out = torch.empty_like(x)
    tokens, heads, size = x.shape
    if tokens and heads:
        with torch.cuda.device_of(x):
            _rotate[(tokens,)](
                x, cosine.contiguous(), sine.contiguous(), out, heads, x.stride(0), x.stride(1), out.stride(0),
                out.stride(1), HALF=size // 2, BLOCK=max(2, triton.next_power_of_2(size // 2)), HEADS=HEADS, BACK=back,
                # Otherwise the compiler fuses a product and the sum into one instruction, which rounds once.
                enable_fp_fusion=False,
            )  # fmt: skip
    return out

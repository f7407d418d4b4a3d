"""Attention of one long segment with torch's fused CPU kernel, separately over its own keys and each span of its
prefix.

The kernel returns the logarithm of each query's sum and reads it in its backward pass. So it also works on a part of
the keys if its backward pass gets the sum over all of them.
"""

import torch
from torch import Tensor

from trainer_core.update.packed.rule import Rule
from trainer_core.update.packed.segment import Segment
from trainer_core.update.packed.tiles import SavedTiles

_forward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
_backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default


def fits(q: Tensor, v: Tensor, segment: Segment, rule: Rule) -> bool:
    """Whether the kernel supports ``rule`` on this segment."""
    cut = rule.window is not None and segment.num_keys > rule.window
    return q.device.type == "cpu" and not cut and rule.softcap is None and v.shape[2] <= q.shape[2]


def forward(q: Tensor, k: Tensor, v: Tensor, segment: Segment, rule: Rule, out: Tensor, logsumexp: Tensor) -> None:
    """Write the output [Lq, H, E] and the logarithms of the sums [H, Lq] of one segment."""
    values = _widened(v, q.shape[2])
    asked = _by_head(q, segment.start, segment.stop)
    found, sums = _forward(asked, *_keys(k, values, segment.start, segment.stop), 0.0, True, scale=rule.scale)
    for span in segment.prefix:
        other, others = _forward(asked, *_keys(k, values, *span), 0.0, False, scale=rule.scale)
        whole = torch.logaddexp(sums, others)
        share = (others - whole).exp_().unsqueeze(-1)
        # Two parts of the same output with different weights: lerp keeps the result between them.
        found = torch.lerp(found.to(whole.dtype), other.to(whole.dtype), share)
        sums = whole
    out.copy_(found[0].transpose(0, 1)[..., : v.shape[2]])
    logsumexp.copy_(sums[0])


def backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    segment: Segment,
    rule: Rule,
    saved: SavedTiles,
    into: tuple[Tensor, Tensor, Tensor],
) -> None:
    """Write the gradient of one segment's queries, and add that of its keys and values, to those of all tokens."""
    to_q, to_k, to_v = into
    values = _widened(v, q.shape[2])
    own = slice(segment.start, segment.stop)
    asked = _by_head(q, segment.start, segment.stop)
    slope, out = (_widened(one, q.shape[2]).transpose(0, 1).unsqueeze(0) for one in (saved.slope, saved.out))
    sums = saved.logsumexp.unsqueeze(0).contiguous()
    for keys, causal in ((own, True), *((slice(*span), False) for span in segment.prefix)):
        given = (slope, asked, *_keys(k, values, keys.start, keys.stop), out, sums, 0.0, causal)
        by_q, by_k, by_v = _backward(*given, scale=rule.scale)
        to_q[own] += by_q[0].transpose(0, 1)
        to_k[keys] += by_k[0].transpose(0, 1)
        to_v[keys] += by_v[0].transpose(0, 1)[..., : v.shape[2]]


def _by_head(states: Tensor, start: int, stop: int) -> Tensor:
    return states[start:stop].transpose(0, 1).unsqueeze(0)


def _keys(k: Tensor, v: Tensor, start: int, stop: int) -> tuple[Tensor, Tensor]:
    return _by_head(k, start, stop), _by_head(v, start, stop)


def _widened(states: Tensor, size: int) -> Tensor:
    """Values that are narrower than the keys, padded with zeros: the kernel accepts only one size."""
    short = size - states.shape[-1]
    return torch.nn.functional.pad(states, (0, short)) if short else states

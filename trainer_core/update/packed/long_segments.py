"""Exact attention of long segments, in memory linear in their length and not quadratic.

Nothing of the size queries times keys outlives a tile. The forward pass saves the output and the logarithm of each
query's sum, from which the backward pass recomputes the probabilities (FlashAttention-2, arXiv 2307.08691). A prompt
that several samples share is read in place: its part of the sum and the sample's own are combined by their logarithms,
and each part's backward pass gets the logarithm of the whole sum.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.attention.bias import causal_lower_right

from trainer_core.update.packed import fused, tiles
from trainer_core.update.packed.rule import Rule
from trainer_core.update.packed.segment import Segment


def long_attention(
    q: Tensor, k: Tensor, v: Tensor, sinks: Tensor | None, segments: Sequence[Segment], rule: Rule
) -> Tensor:
    """Output of all queries of ``segments`` in their order, [Σ Lq, H, E].

    Args:
        q: [N, H, D] of all packed tokens.
        k: [N, K, D]; H is a multiple of K.
        v: [N, K, E].
        sinks: [H], scores without a value that take part in the softmax.
        segments: runs of packed tokens that do not overlap.
        rule: the layer's rule.
    """
    if q.is_cuda and sinks is None and rule.softcap is None and not _cuts(rule, segments):
        return torch.cat([_by_sdpa(q, k, v, one, rule.scale) for one in segments])
    found: Tensor = _LongAttention.apply(q, k, v, sinks, tuple(segments), rule)
    return found


def _cuts(rule: Rule, segments: Sequence[Segment]) -> bool:
    return rule.window is not None and any(one.num_keys > rule.window for one in segments)


def _by_sdpa(q: Tensor, k: Tensor, v: Tensor, segment: Segment, scale: float) -> Tensor:
    """Output [Lq, H, E] from torch's fused accelerator kernels, which need all keys in one tensor."""
    own = slice(*segment.own)
    spans = [slice(*span) for span in (*segment.prefix, segment.own)]
    keys, values = (one[own] if len(spans) == 1 else torch.cat([one[span] for span in spans]) for one in (k, v))
    if q.shape[1] != k.shape[1] and q.dtype == torch.float32:
        # The 32-bit kernel does not support groups.
        keys, values = (one.repeat_interleave(q.shape[1] // k.shape[1], dim=1) for one in (keys, values))
    asked, keys, values = (one.transpose(0, 1).unsqueeze(0) for one in (q[own], keys, values))
    out = nn.functional.scaled_dot_product_attention(
        asked,
        keys,
        values,
        attn_mask=causal_lower_right(segment.num_queries, segment.num_keys),
        scale=scale,
        enable_gqa=asked.shape[1] != keys.shape[1],
    )
    return out[0].transpose(0, 1)


class _LongAttention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, sinks: Tensor | None, segments: tuple[Segment, ...], rule: Rule
    ) -> Tensor:
        queries = sum(one.num_queries for one in segments)
        out = q.new_empty(queries, q.shape[1], v.shape[2])
        logsumexp = torch.empty(q.shape[1], queries, dtype=tiles.wide(q), device=q.device)
        filled = 0
        for segment in segments:
            here = slice(filled, filled + segment.num_queries)
            part = fused if fused.fits(q, v, segment, rule) else tiles
            part.forward(q, k, v, segment, rule, out[here], logsumexp[:, here])
            filled = here.stop
        if sinks is not None:
            # The sink takes its share of each sum, so the other probabilities shrink, and the output with them.
            whole = torch.logaddexp(logsumexp, sinks.to(logsumexp.dtype).unsqueeze(1))
            out.mul_((logsumexp - whole).exp_().T.unsqueeze(2).to(out.dtype))
            logsumexp = whole
        ctx.segments, ctx.rule = segments, rule
        ctx.save_for_backward(q, k, v, sinks, out, logsumexp)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, sinks, out, logsumexp = ctx.saved_tensors
        kind = logsumexp.dtype
        mixed = torch.einsum("qhe,qhe->hq", slope.to(kind), out.to(kind))
        # Shared keys get their gradient from many segments, so it is accumulated in full precision.
        to_q = torch.zeros_like(q)
        to_k, to_v = torch.zeros_like(k, dtype=kind), torch.zeros_like(v, dtype=kind)
        filled = 0
        for segment in ctx.segments:
            here = slice(filled, filled + segment.num_queries)
            part = fused if fused.fits(q, v, segment, ctx.rule) else tiles
            saved = tiles.SavedTiles(slope[here], out[here], logsumexp[:, here], mixed[:, here])
            part.backward(q, k, v, segment, ctx.rule, saved, (to_q, to_k, to_v))
            filled = here.stop
        to_sinks = None
        if sinks is not None and ctx.needs_input_grad[3]:
            # d out / d sink = −p_sink · out, where p_sink is the sink's own share.
            share = (sinks.to(kind).unsqueeze(1) - logsumexp).exp_()
            to_sinks = -(share * mixed).sum(dim=1).to(sinks.dtype)
        return to_q, to_k.to(k.dtype), to_v.to(v.dtype), to_sinks, None, None

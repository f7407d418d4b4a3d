"""Exact attention over packed tokens, registered with transformers as ``dressage_packed``.

Sequences never see one another: each bucket of the layout gathers its segments' queries and keys. Short buckets
are two batched matrix products and a softmax, which beats the fused kernel on a CPU; long ones use the fused kernel,
whose memory does not grow with the square of the length.
"""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface

from trainer_core.update.packed.segments import Bucket, Layout

NAME = "dressage_packed"
MAX_PLAIN_KEYS = 256
"""Buckets with more keys per query than this go to the fused kernel."""


class UnsupportedPolicy(ValueError):
    """The policy's architecture cannot be trained on packed sequences; the message says why."""


def packed_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *,
    layout: Layout | None = None,
    scaling: float | None = None,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """Attention of one layer; the signature is transformers' AttentionInterface.

    Args:
        module: the attention layer (unused).
        query: [1, H, N, D] with N packed tokens.
        key: [1, K, N, D]; H is a multiple of K (grouped queries).
        value: [1, K, N, E].
        attention_mask: unused; the layout says who sees whom.
        layout: the pattern of this micro-batch.
        scaling: factor of the scores; default D^-0.5.
        dropout: must be 0.
        sliding_window: a query sees only this many latest positions, itself included.
        softcap: not supported.
        s_aux: attention sinks; not supported.

    Returns:
        The output [1, N, H, E], and None in place of the weights.

    Raises:
        UnsupportedPolicy: the layer asks for what this attention does not do.
    """
    if layout is None:
        raise UnsupportedPolicy(
            f"{type(module).__name__} does not hand its keyword arguments to the attention function"
        )
    if softcap is not None or s_aux is not None or dropout:
        raise UnsupportedPolicy(f"{type(module).__name__} uses score capping, attention sinks or dropout")
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    # [N, heads * size]: one row per packed token, so that gathering a token copies one run of memory.
    q, k, v = (states[0].transpose(0, 1) for states in (query, key, value))
    outputs = [_attend(bucket, q, k, v, scale, sliding_window) for bucket in layout.buckets]
    flat = outputs[0] if len(outputs) == 1 else torch.cat(outputs)
    return flat.index_select(0, layout.slots).unsqueeze(0), None


def _attend(bucket: Bucket, q: Tensor, k: Tensor, v: Tensor, scale: float, window: int | None) -> Tensor:
    """Output of one bucket's query slots, [B * Lq, H, E]."""
    batch, queries = bucket.query_rows.shape
    keys = bucket.key_rows.shape[1]
    heads, kv_heads = q.shape[1], k.shape[1]
    shared = heads // kv_heads
    bias = bucket.bias
    if window is not None and keys > window:
        slots = torch.arange(keys, device=bias.device)
        too_old = slots <= bucket.query_positions.unsqueeze(-1) - window
        bias = bias.masked_fill(too_old, -torch.inf)
    qs = q.index_select(0, bucket.query_rows.view(-1)).view(batch, queries, kv_heads, shared, -1).permute(0, 2, 3, 1, 4)
    ks = k.index_select(0, bucket.key_rows.view(-1)).view(batch, keys, kv_heads, -1).transpose(1, 2)
    vs = v.index_select(0, bucket.key_rows.view(-1)).view(batch, keys, kv_heads, -1).transpose(1, 2)
    if keys > MAX_PLAIN_KEYS:
        out = nn.functional.scaled_dot_product_attention(
            qs.reshape(batch, heads, queries, -1),
            ks.repeat_interleave(shared, dim=1),
            vs.repeat_interleave(shared, dim=1),
            attn_mask=bias.unsqueeze(1).to(q.dtype),
            scale=scale,
        )
        return out.transpose(1, 2).reshape(batch * queries, heads, -1)
    qs = qs.reshape(batch * kv_heads, shared * queries, -1)
    ks = ks.reshape(batch * kv_heads, keys, -1)
    vs = vs.reshape(batch * kv_heads, keys, -1)
    scores = torch.bmm(qs, (ks * scale).transpose(1, 2))
    # In place: the scores are this function's own, and the sum with a constant leaves the gradient as it is.
    scores.view(batch, kv_heads, shared, queries, keys).add_(bias[:, None, None].to(q.dtype))
    out = torch.bmm(torch.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype), vs)
    return out.view(batch, heads, queries, -1).transpose(1, 2).reshape(batch * queries, heads, -1)


def register() -> str:
    """Make the function known to transformers under the returned name. May be called again."""
    AttentionInterface.register(NAME, packed_attention)
    return NAME

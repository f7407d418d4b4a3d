"""Exact attention over packed tokens, registered with transformers as ``dressage_packed``.

Sequences never see one another: each bucket of the layout gathers its segments' queries and keys. Short buckets use two
batched matrix products and a softmax, which is faster than the fused kernel on a CPU. Medium ones use the fused kernel
with a mask. Long segments are computed without masks, see ``long_segments``. In medium buckets, layers with capped
scores or attention sinks, or with values of a different size than their queries, use the plain products, which are
recomputed in the backward pass.

In 16 bits on a GPU, one kernel computes all segments in one call, see ``varlen``.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint
from transformers import AttentionInterface

from trainer_core.update.collectives import ContextGroup
from trainer_core.update.packed import varlen
from trainer_core.update.packed.context import heads_for_tokens, own_heads, tokens_for_heads
from trainer_core.update.packed.long_segments import long_attention
from trainer_core.update.packed.rule import Rule
from trainer_core.update.packed.segments import Layout

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
    context_group: ContextGroup | None = None,
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
        attention_mask: unused; the layout defines which token sees which.
        layout: the pattern of this micro-batch.
        context_group: the ranks that split its tokens: then queries, keys, values and output are those of this rank's
            tokens. Collective over them.
        scaling: factor of the scores; default D^-0.5.
        dropout: must be 0.
        sliding_window: a query sees only this many latest positions, itself included.
        softcap: c if scores are capped to c·tanh(score / c), before any mask.
        s_aux: attention sinks, one score per head [H] that takes part in the softmax and has no value.

    Returns:
        The output [1, N, H, E], and None in place of the weights.

    Raises:
        UnsupportedPolicy: the layer needs something that this attention does not support.
    """
    if layout is None:
        raise UnsupportedPolicy(
            f"{type(module).__name__} does not pass its keyword arguments to the attention function"
        )
    if dropout:
        raise UnsupportedPolicy(
            f"{type(module).__name__} uses dropout in its attention: set attention_dropout to 0 in its config.json"
        )
    rule = Rule(query.shape[-1] ** -0.5 if scaling is None else scaling, sliding_window, softcap)
    if context_group is not None:
        if query.shape[1] % context_group.size:
            raise UnsupportedPolicy(
                f"{context_group.size} ranks cannot divide {query.shape[1]} attention heads evenly: choose another"
                " parallelism.context_parallel_size"
            )
        query, key, value = heads_for_tokens(context_group, query, key, value)
        s_aux = None if s_aux is None else own_heads(context_group, s_aux)
    # [N, heads * size]: one row per packed token, so that gathering a token copies one block of memory.
    q, k, v = (states[0].transpose(0, 1) for states in (query, key, value))
    if varlen.fits(q, v, s_aux, rule):
        found = varlen.varlen_attention(q, k, v, layout.spans, rule)
    else:
        found = _by_size(layout, q, k, v, s_aux, rule)
    if context_group is not None:
        found = tokens_for_heads(context_group, found)
    return found.unsqueeze(0), None


def _by_size(layout: Layout, q: Tensor, k: Tensor, v: Tensor, sinks: Tensor | None, rule: Rule) -> Tensor:
    """Output of every packed token in packed order, [N, H, E]: similar segments together, long ones separately."""
    outputs = [_attend(layout, number, q, k, v, sinks, rule) for number in range(len(layout.buckets))]
    if layout.long:
        outputs.append(long_attention(q, k, v, sinks, layout.long, rule))
    flat = outputs[0] if len(outputs) == 1 else torch.cat(outputs)
    return flat.index_select(0, layout.slots)


def _attend(layout: Layout, number: int, q: Tensor, k: Tensor, v: Tensor, sinks: Tensor | None, rule: Rule) -> Tensor:
    """Output of the query slots of bucket ``number``, [B * Lq, H, E]."""
    bucket = layout.buckets[number]
    batch, queries = bucket.query_rows.shape
    keys = bucket.key_rows.shape[1]
    heads, kv_heads = q.shape[1], k.shape[1]
    shared = heads // kv_heads
    bias = layout.mask(number, rule.window, q.dtype)
    qs = q.index_select(0, bucket.query_rows.view(-1)).view(batch, queries, kv_heads, shared, -1).permute(0, 2, 3, 1, 4)
    ks = k.index_select(0, bucket.key_rows.view(-1)).view(batch, keys, kv_heads, -1).transpose(1, 2)
    vs = v.index_select(0, bucket.key_rows.view(-1)).view(batch, keys, kv_heads, -1).transpose(1, 2)
    if keys <= MAX_PLAIN_KEYS:
        out = _plain(qs, ks, vs, bias, sinks, rule)
    elif rule.softcap is not None or sinks is not None or qs.shape[-1] != vs.shape[-1]:
        # No fused kernel supports these; probabilities of long sequences must not be kept for the backward pass.
        out = checkpoint(_plain, qs, ks, vs, bias, sinks, rule, use_reentrant=False, preserve_rng_state=False)
    else:
        out = nn.functional.scaled_dot_product_attention(
            qs.reshape(batch, heads, queries, -1),
            ks.repeat_interleave(shared, dim=1),
            vs.repeat_interleave(shared, dim=1),
            attn_mask=bias.unsqueeze(1),
            scale=rule.scale,
        )
    return out.transpose(1, 2).reshape(batch * queries, heads, -1)


def _plain(qs: Tensor, ks: Tensor, vs: Tensor, bias: Tensor, sinks: Tensor | None, rule: Rule) -> Tensor:
    """Output [B, H, Lq, E] of queries [B, K, G, Lq, D], keys [B, K, Lk, D] and values [B, K, Lk, E]."""
    batch, kv_heads, shared, queries, size = qs.shape
    keys = ks.shape[2]
    qs = qs.reshape(batch * kv_heads, shared * queries, size)
    ks = ks.reshape(batch * kv_heads, keys, size)
    vs = vs.reshape(batch * kv_heads, keys, -1)
    scores = torch.bmm(qs, (ks * rule.scale).transpose(1, 2))
    wide = torch.promote_types(scores.dtype, torch.float32)
    if rule.softcap is not None:
        scores = torch.tanh(scores.to(wide) / rule.softcap) * rule.softcap
    # In place: the scores are this function's own, and adding a constant does not change the gradient.
    scores.view(batch, kv_heads, shared, queries, keys).add_(bias[:, None, None])
    if sinks is None:
        probabilities = torch.softmax(scores, dim=-1, dtype=wide)
    else:
        each = sinks.to(wide).view(1, kv_heads, shared, 1, 1).expand(batch, -1, -1, queries, 1)
        scores = torch.cat([scores.to(wide), each.reshape(batch * kv_heads, shared * queries, 1)], dim=-1)
        probabilities = torch.softmax(scores, dim=-1)[..., :-1]
    return torch.bmm(probabilities.to(vs.dtype), vs).view(batch, kv_heads * shared, queries, -1)


def register() -> str:
    """Register the function with transformers under the returned name. May be called again."""
    AttentionInterface.register(NAME, packed_attention)
    return NAME

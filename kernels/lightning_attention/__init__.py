"""Lightning attention (MiniMax-01, arXiv 2501.08313; arXiv 2401.04658): linear attention with a decay per head.

    S_t = e^(−slope) · S_{t−1} + k_t ⊗ v_t        o_t = q_t · S_t

which is o_t = Σ_{s ≤ t} e^(−slope·(t − s)) · (q_t · k_s) · v_s within a sequence.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from kernels.backend import Backend, uses_triton
from kernels.lightning_attention import reference

MAX_SLOPE = 50.0
"""The backward pass divides by one decay; e^50 is still finite in float32."""


def lightning_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    slopes: Tensor,
    starts: Tensor,
    initial: Tensor | None = None,
    *,
    backend: Backend = "auto",
) -> tuple[Tensor, Tensor]:
    """Outputs [N, H, E] and final states [B, H, D, E] of B packed sequences, with gradient.

    Args:
        query: [N, H, D]; any scaling is the caller's.
        key: [N, H, D].
        value: [N, H, E].
        slopes: [H], from 0 to ``MAX_SLOPE``; without gradient.
        starts: int64 [B + 1], ascending from 0 to N; sequences may be empty. Best on the CPU, since they decide the
            launches.
        initial: states before the first tokens, [B, H, D, E]; default zero.
        backend: see ``kernels.backend``.

    Raises:
        BackendUnavailable: Triton was requested but cannot run here.
        ValueError: shapes, starts or (on the CPU) slopes do not fit.
    """
    tokens, heads, depth = query.shape
    if key.shape != query.shape or value.shape[:2] != (tokens, heads) or slopes.shape != (heads,):
        raise ValueError("query and key must be [N, H, D], value [N, H, E] and slopes [H]")
    edges: list[int] = starts.tolist()
    if edges[0] != 0 or edges[-1] != tokens or any(last < first for first, last in pairwise(edges)):
        raise ValueError(f"starts must ascend from 0 to {tokens}")
    # On other devices they are not checked, because that would wait for all queued GPU work.
    if slopes.device.type == "cpu" and bool(((slopes < 0) | (slopes > MAX_SLOPE)).any()):
        raise ValueError(f"slopes must be from 0 to {MAX_SLOPE:g}")
    shape = (len(edges) - 1, heads, depth, value.shape[2])
    if initial is None:
        kind = torch.float64 if query.dtype == torch.float64 else torch.float32
        initial = torch.zeros(shape, dtype=kind, device=query.device)
    if initial.shape != shape:
        raise ValueError(f"the initial states must have the shape {list(shape)}")
    triton = uses_triton(query, backend)
    out, final = _LightningAttention.apply(query, key, value, slopes, initial, edges, triton)
    return out, final


def decode_step(query: Tensor, key: Tensor, value: Tensor, slopes: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """One more token of each of B sequences: output [B, H, E] and the new state.

    Args:
        query: [B, H, D].
        key: [B, H, D].
        value: [B, H, E].
        slopes: [H].
        state: [B, H, D, E], which is not changed.
    """
    decay = torch.exp(-slopes.to(state.dtype)).view(1, -1, 1, 1)
    new = decay * state + key.to(state.dtype).unsqueeze(-1) * value.to(state.dtype).unsqueeze(-2)
    out = torch.einsum("bhd,bhde->bhe", query.to(state.dtype), new)
    return out.to(value.dtype), new


def _scan(
    triton: bool,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    slopes: Tensor,
    edges: Sequence[int],
    initial: Tensor,
    reverse: bool = False,
) -> tuple[Tensor, Tensor]:
    if triton:
        from kernels.lightning_attention.triton import scan

        return scan(query, key, value, slopes, edges, initial, reverse=reverse)
    # Sums are at least float32; the state keeps that precision between chunks.
    kind = initial.dtype
    q, k, v, rates = (part.to(kind) for part in (query, key, value, slopes))
    out, final = reference.scan(q, k, v, rates, edges, initial, reverse=reverse)
    return out.to(value.dtype), final


class _LightningAttention(torch.autograd.Function):
    """The backward pass is three scans: each gradient is a linear attention of the other three tensors."""

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        slopes: Tensor,
        initial: Tensor,
        edges: list[int],
        triton: bool,
    ) -> tuple[Tensor, Tensor]:
        ctx.edges, ctx.triton = edges, triton
        ctx.save_for_backward(query, key, value, slopes, initial)
        return _scan(triton, query, key, value, slopes, edges, initial)

    @staticmethod
    def backward(ctx: Any, slope: Tensor, final_slope: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, slopes, initial = ctx.saved_tensors
        edges, triton = ctx.edges, ctx.triton
        slope = slope.to(value.dtype)
        # ∂/∂q_t = S_t · ∂o_t, where S_t is the state that v ⊗ k would make, transposed.
        to_query, _ = _scan(triton, slope, value, key, slopes, edges, initial.transpose(2, 3).contiguous())
        # The slope of the final state comes after the last token, and has not decayed when it reaches that token.
        rates = slopes.to(final_slope.dtype).view(1, -1, 1, 1)
        last = final_slope * torch.exp(rates)
        to_key, _ = _scan(triton, value, slope, query, slopes, edges, last.transpose(2, 3).contiguous(), reverse=True)
        to_value, reached = _scan(triton, key, query, slope, slopes, edges, last, reverse=True)
        to_initial = reached * torch.exp(-rates)
        for number, (first, stop) in enumerate(pairwise(edges)):
            if first == stop:
                to_initial[number] = final_slope[number]  # an empty sequence passes its initial state on unchanged
        return (
            to_query.to(query.dtype),
            to_key.to(key.dtype),
            to_value.to(value.dtype),
            None,
            to_initial.to(initial.dtype),
            None,
            None,
        )

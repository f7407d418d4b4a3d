"""Lightning attention (MiniMax-01, arXiv 2501.08313; arXiv 2401.04658): linear attention with a decay per head.

    S_t = e^(−slope) · S_{t−1} + k_t ⊗ v_t        o_t = q_t · S_t

which is o_t = Σ_{s ≤ t} e^(−slope·(t − s)) · (q_t · k_s) · v_s within a sequence.
"""

from typing import Any

import torch
from torch import Tensor

from kernels.backend import Backend, uses_triton
from kernels.lightning_attention import reference

MAX_SLOPE = 50.0
"""The backward pass divides by one decay; e^50 is still a number in float32."""


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
        starts: int64 [B + 1], ascending from 0 to N; sequences may be empty.
        initial: states before the first tokens, [B, H, D, E]; default zero.
        backend: see ``kernels.backend``.

    Raises:
        BackendUnavailable: Triton was asked for where it cannot run.
        ValueError: shapes, starts or slopes do not fit.
    """
    tokens, heads, depth = query.shape
    if key.shape != query.shape or value.shape[:2] != (tokens, heads) or slopes.shape != (heads,):
        raise ValueError("query and key must be [N, H, D], value [N, H, E] and slopes [H]")
    if int(starts[0]) != 0 or int(starts[-1]) != tokens or bool((starts.diff() < 0).any()):
        raise ValueError(f"starts must ascend from 0 to {tokens}")
    if bool(((slopes < 0) | (slopes > MAX_SLOPE)).any()):
        raise ValueError(f"slopes must be from 0 to {MAX_SLOPE:g}")
    shape = (len(starts) - 1, heads, depth, value.shape[2])
    if initial is None:
        kind = torch.float64 if query.dtype == torch.float64 else torch.float32
        initial = torch.zeros(shape, dtype=kind, device=query.device)
    if initial.shape != shape:
        raise ValueError(f"the initial states must have the shape {list(shape)}")
    triton = uses_triton(query, backend)
    out, final = _LightningAttention.apply(query, key, value, slopes, starts, initial, triton)
    return out, final


def decode_step(query: Tensor, key: Tensor, value: Tensor, slopes: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """One more token of each of B sequences: output [B, H, E] and the new state.

    Args:
        query: [B, H, D].
        key: [B, H, D].
        value: [B, H, E].
        slopes: [H].
        state: [B, H, D, E], of which nothing is changed.
    """
    decay = torch.exp(-slopes.to(state.dtype)).view(1, -1, 1, 1)
    new = decay * state + key.to(state.dtype).unsqueeze(-1) * value.to(state.dtype).unsqueeze(-2)
    out = torch.einsum("bhd,bhde->bhe", query.to(state.dtype), new)
    return out.to(value.dtype), new


def _scan(
    triton: bool, query: Tensor, key: Tensor, value: Tensor, slopes: Tensor, starts: Tensor, initial: Tensor
) -> tuple[Tensor, Tensor]:
    if triton:
        from kernels.lightning_attention.triton import scan

        return scan(query, key, value, slopes, starts, initial)
    # Sums are in float32 at least; the state keeps that precision between chunks.
    kind = initial.dtype
    q, k, v, rates = (part.to(kind) for part in (query, key, value, slopes))
    out, final = reference.scan(q, k, v, rates, starts, initial)
    return out.to(value.dtype), final


class _LightningAttention(torch.autograd.Function):
    """The backward pass is three scans as well: each gradient is a linear attention of the other three tensors."""

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        slopes: Tensor,
        starts: Tensor,
        initial: Tensor,
        triton: bool,
    ) -> tuple[Tensor, Tensor]:
        ctx.triton = triton
        ctx.save_for_backward(query, key, value, slopes, starts, initial)
        return _scan(triton, query, key, value, slopes, starts, initial)

    @staticmethod
    def backward(ctx: Any, slope: Tensor, final_slope: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, slopes, starts, initial = ctx.saved_tensors
        slope = slope.to(value.dtype)
        # ∂/∂q_t = S_t · ∂o_t, where S_t is the state that v ⊗ k would make, transposed.
        to_query, _ = _scan(ctx.triton, slope, value, key, slopes, starts, initial.transpose(2, 3).contiguous())
        # Behind the last token comes the slope of the final state, and it has not decayed when it reaches that token.
        undecayed = final_slope * torch.exp(slopes.to(final_slope.dtype)).view(1, -1, 1, 1)
        back = _reversed_within(starts, len(query))
        q, k, v, o = (part.index_select(0, back) for part in (query, key, value, slope))
        to_key, _ = _scan(ctx.triton, v, o, q, slopes, starts, undecayed.transpose(2, 3).contiguous())
        to_value, reached = _scan(ctx.triton, k, q, o, slopes, starts, undecayed.contiguous())
        to_initial = reached * torch.exp(-slopes.to(reached.dtype)).view(1, -1, 1, 1)
        # An empty sequence hands its initial state on as it is.
        to_initial = torch.where((starts.diff() == 0).view(-1, 1, 1, 1), final_slope, to_initial)
        return (
            to_query.to(query.dtype),
            to_key.index_select(0, back).to(key.dtype),
            to_value.index_select(0, back).to(value.dtype),
            None,
            None,
            to_initial.to(initial.dtype),
            None,
        )


def _reversed_within(starts: Tensor, tokens: int) -> Tensor:
    """Index [N] that turns each sequence round; its own inverse."""
    place = torch.arange(tokens, device=starts.device)
    owner = torch.bucketize(place, starts[1:], right=True)
    return starts[owner] + starts[owner + 1] - 1 - place

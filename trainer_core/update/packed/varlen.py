"""Attention of all segments of a micro-batch in one call, with torch's flash kernel for NVIDIA GPUs.

One call per layer for any lengths: separate short segments would leave a GPU idle between launches, and padding them to
one another would waste work. The kernel aligns the last query of a segment with its last key, which is correct for
segments with a prefix.

Keys of a prompt that several samples share are gathered once per sample, and their gradients are summed over the
samples in float32.
"""

from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad

from trainer_core.update.packed.reused import Reused, take_turn
from trainer_core.update.packed.rule import Rule
from trainer_core.update.packed.spans import Spans

_forward = torch.ops.aten._flash_attention_forward.default
_backward = torch.ops.aten._flash_attention_backward.default
HEAD_STEP = 8
"""The kernel accepts head sizes that are multiples of this."""
OLDEST = (8, 0)
"""Oldest compute capability that the kernel runs on."""
ROOMY = {(8, 0), (9, 0), (10, 0)}
"""Capabilities whose multiprocessors have room for the backward pass of the largest heads."""


def fits(q: Tensor, v: Tensor, sinks: Tensor | None, rule: Rule) -> bool:
    """Whether the kernel supports ``rule`` for these tensors on this device."""
    if not q.is_cuda or q.dtype not in (torch.bfloat16, torch.float16) or sinks is not None or rule.softcap:
        return False
    return q.shape[2] <= _largest_head(q.device) and q.shape[2] % HEAD_STEP == 0 and v.shape[2] <= q.shape[2]


@cache
def _largest_head(device: torch.device) -> int:
    """Largest head size on a GPU; 0 if torch has no such kernel for it."""
    if torch.version.hip is not None or not torch.backends.cuda.is_flash_attention_available():
        return 0
    return largest_head(torch.cuda.get_device_capability(device))


def largest_head(capability: tuple[int, int]) -> int:
    """Largest head size for a GPU's compute capability; 0 if the kernel does not run on it."""
    if capability < OLDEST:
        return 0
    return 256 if capability in ROOMY else 192


def varlen_attention(q: Tensor, k: Tensor, v: Tensor, spans: Spans, rule: Rule) -> Tensor:
    """Output of every packed token in packed order, [N, H, E].

    Args:
        q: [N, H, D].
        k: [N, K, D]; H is a multiple of K.
        v: [N, K, E], E at most D.
        spans: the micro-batch's spans, on the same device.
        rule: the layer's rule, without a cap.
    """
    short = q.shape[2] - v.shape[2]
    found: Tensor = _VarlenAttention.apply(q, k, pad(v, (0, short)) if short else v, spans, rule)
    return found[..., : v.shape[2]]


class _VarlenAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, spans: Spans, rule: Rule) -> Tensor:
        ctx.spans, ctx.rule = spans, rule
        found = take_turn(lambda: _attend(q, k, v, spans, rule))
        ctx.random, ctx.unused = found.others
        ctx.save_for_backward(q, k, v, *found.tensors)
        return found.tensors[0]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, out, logsumexp = ctx.saved_tensors
        spans, rule = ctx.spans, ctx.rule
        to_q, to_k, to_v = _backward(
            slope.contiguous(), q, _gathered(k, spans), _gathered(v, spans), out, logsumexp, spans.query_edges,
            spans.key_edges, _longest(spans), spans.most_keys, 0.0, True, ctx.random, ctx.unused, scale=rule.scale,
            **_window(rule),
        )  # fmt: skip
        return to_q, _added_up(to_k, k, spans), _added_up(to_v, v, spans), None, None


def _attend(q: Tensor, k: Tensor, v: Tensor, spans: Spans, rule: Rule) -> Reused:
    out, logsumexp, random, unused, _ = _forward(
        q, _gathered(k, spans), _gathered(v, spans), spans.query_edges, spans.key_edges, _longest(spans),
        spans.most_keys, 0.0, True, False, scale=rule.scale, **_window(rule),
    )  # fmt: skip
    return Reused((out, logsumexp), (random, unused))


def _longest(spans: Spans) -> int:
    """Most queries of a segment; with one, the kernel would split the keys and sum in a different order."""
    return max(2, spans.most_queries)


def _window(rule: Rule) -> dict[str, int]:
    return {} if rule.window is None else {"window_size_left": rule.window - 1, "window_size_right": 0}


def _gathered(states: Tensor, spans: Spans) -> Tensor:
    return states if spans.key_rows is None else states.index_select(0, spans.key_rows)


def _added_up(flow: Tensor, states: Tensor, spans: Spans) -> Tensor:
    """Gradient of ``states`` from that of the gathered states."""
    if spans.key_rows is None:
        return flow
    wide = torch.zeros(states.shape, dtype=torch.float32, device=states.device)
    return wide.index_add_(0, spans.key_rows, flow.float()).to(states.dtype)

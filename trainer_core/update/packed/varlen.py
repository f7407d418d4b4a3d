"""Attention of all segments of a micro-batch in one call, by the flash kernel that torch has for NVIDIA's cards.

One call per layer, whatever the lengths: short segments would leave a card idle between launches, and padding them to
one another would waste its work. The kernel takes the last query of a segment to see its last key, as segments with a
prefix have it.

Keys of a prompt that several samples share are gathered once for each of them, and their gradients, which come from all
of these, are added up in float32.
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
"""Sizes of heads that the kernel takes are multiples of this."""
OLDEST = (8, 0)
"""Oldest compute capability that it runs on."""
ROOMY = {(8, 0), (9, 0), (10, 0)}
"""Capabilities whose multiprocessors have room for the backward pass of the largest heads."""


def fits(q: Tensor, v: Tensor, sinks: Tensor | None, rule: Rule) -> bool:
    """Whether the kernel computes what ``rule`` asks for, of these numbers on this device."""
    if not q.is_cuda or q.dtype not in (torch.bfloat16, torch.float16) or sinks is not None or rule.softcap:
        return False
    return q.shape[2] <= _largest_head(q.device) and q.shape[2] % HEAD_STEP == 0 and v.shape[2] <= q.shape[2]


@cache
def _largest_head(device: torch.device) -> int:
    """Largest size of a head on a card; 0 where torch has no such kernel for it."""
    if torch.version.hip is not None or not torch.backends.cuda.is_flash_attention_available():
        return 0
    return largest_head(torch.cuda.get_device_capability(device))


def largest_head(capability: tuple[int, int]) -> int:
    """Largest size of a head by a card's compute capability; 0 where the kernel does not run."""
    if capability < OLDEST:
        return 0
    return 256 if capability in ROOMY else 192


def varlen_attention(q: Tensor, k: Tensor, v: Tensor, spans: Spans, rule: Rule) -> Tensor:
    """Output of every packed token in packed order, [N, H, E].

    Args:
        q: [N, H, D].
        k: [N, K, D]; H is a multiple of K.
        v: [N, K, E], E at most D.
        spans: the micro-batch's, on the same device.
        rule: the layer's, without a cap.
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
    """Most queries of a segment; of one, the kernel would split the keys, and sum in another order."""
    return max(2, spans.most_queries)


def _window(rule: Rule) -> dict[str, int]:
    return {} if rule.window is None else {"window_size_left": rule.window - 1, "window_size_right": 0}


def _gathered(states: Tensor, spans: Spans) -> Tensor:
    return states if spans.key_rows is None else states.index_select(0, spans.key_rows)


def _added_up(flow: Tensor, states: Tensor, spans: Spans) -> Tensor:
    """Gradient of ``states`` from that of the gathered."""
    if spans.key_rows is None:
        return flow
    wide = torch.zeros(states.shape, dtype=torch.float32, device=states.device)
    return wide.index_add_(0, spans.key_rows, flow.float()).to(states.dtype)

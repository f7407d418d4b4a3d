"""Context parallelism: several ranks share out the tokens of one micro-batch (DeepSpeed-Ulysses, arXiv 2309.14509).

    layers      each rank computes its own run of packed tokens, in the output layer too
    attention   heads for tokens before it, tokens for heads behind it: each rank attends with some heads to all tokens
    loss        what was found of each predicted token is gathered, so that every rank has the loss of the whole

The gradient of what is gathered goes back to the rank that computed it, and no further: each rank's backward pass gives
the part of the gradient that flows through its own tokens, and the sum over the ranks is the whole.
"""

from dataclasses import dataclass
from math import gcd
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from trainer_core.update.collectives import ContextGroup
from trainer_core.update.device import move


@dataclass(frozen=True, slots=True)
class TokenPart:
    """The part of a micro-batch of N packed and M predicted tokens that this rank computes."""

    context: ContextGroup
    tokens: Tensor
    """Packed tokens, int64 [n], of the same number on every rank: behind the end the last one stands again."""
    rows: Tensor
    """Place among ``tokens`` whose logits predict a target, int64 [m], of the same number on every rank."""
    predicted: Tensor
    """The predicted token that each of ``rows`` is for, int64 [m]; 0 for those that fill up."""
    places: Tensor
    """Place of each predicted token's results among those of all ranks, one after the other, int64 [M]."""

    def to(self, device: torch.device) -> "TokenPart":
        """The part on ``device``."""
        tokens, rows, predicted, places = (
            move(one, device) for one in (self.tokens, self.rows, self.predicted, self.places)
        )
        return TokenPart(self.context, tokens, rows, predicted, places)

    def whole(self, values: Tensor) -> Tensor:
        """Results [m, ...] of all ranks as those of the predicted tokens, [M, ...], with gradient. Collective."""
        found: Tensor = _Gather.apply(values.contiguous(), self.context)
        return found.index_select(0, self.places)


def cut_tokens(context: ContextGroup, num_tokens: int, rows: Tensor) -> TokenPart | None:
    """This rank's part of a micro-batch; None where it computes all of it.

    Args:
        context: the ranks that share it out.
        num_tokens: N.
        rows: packed token whose logits predict each target, int64 [M], on the host.
    """
    if context.size == 1:
        return None
    run = -(-num_tokens // context.size)
    first = context.index * run
    owner = rows // run
    counts = torch.bincount(owner, minlength=context.size)
    width = max(1, int(counts.max()))
    order = torch.argsort(owner, stable=True)
    starts = torch.cumsum(counts, 0) - counts
    places = torch.empty_like(rows)
    places[order] = owner[order] * width + torch.arange(len(rows)) - starts[owner[order]]
    mine = torch.nonzero(owner == context.index).squeeze(1)
    spare = width - len(mine)
    return TokenPart(
        context,
        tokens=torch.arange(first, first + run).clamp_(max=num_tokens - 1),
        rows=nn.functional.pad(rows[mine] - first, (0, spare)),
        predicted=nn.functional.pad(mine, (0, spare)),
        places=places,
    )


def heads_for_tokens(context: ContextGroup, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values of this rank's heads and all ranks' tokens. Collective, with gradient.

    Where there are fewer key-value heads than ranks, or the ranks cannot share them alike, they are repeated first.

    Args:
        context: the ranks that share the tokens out.
        query: [1, H, n, D] of this rank's tokens; H is a multiple of the ranks.
        key: [1, K, n, D].
        value: [1, K, n, E].

    Returns:
        [1, H / ranks, ranks · n, D], and keys and values of as many heads as these queries ask.
    """
    ranks, repeats = context.size, context.size // gcd(key.shape[1], context.size)
    if repeats > 1:
        key, value = (states.repeat_interleave(repeats, dim=1) for states in (key, value))
    # One message for all three: [ranks, numbers of one token, n].
    parted = [states[0].unflatten(0, (ranks, -1)) for states in (query, key, value)]
    sizes = [part.shape[1] * part.shape[3] for part in parted]
    message = torch.cat([part.transpose(2, 3).flatten(1, 2) for part in parted], dim=1)
    received = _exchange(message, context).split(sizes, dim=1)
    # [ranks, heads, size, n] of each rank's tokens become [1, heads, ranks · n, size].
    q, k, v = (
        got.unflatten(1, (part.shape[1], part.shape[3])).permute(1, 0, 3, 2).flatten(1, 2).unsqueeze(0)
        for got, part in zip(received, parted, strict=True)
    )
    return q, k, v


def tokens_for_heads(context: ContextGroup, output: Tensor) -> Tensor:
    """Attention's output of this rank's tokens and all heads, [n, H, E]. Collective, with gradient.

    Args:
        context: the ranks that share the tokens out.
        output: [N, H / ranks, E] of all packed tokens; zeros stand in for what N is short of ranks · n.
    """
    short = -len(output) % context.size
    full = nn.functional.pad(output, (0, 0, 0, 0, 0, short)) if short else output
    received = _exchange(full.unflatten(0, (context.size, -1)).contiguous(), context)
    return received.transpose(0, 1).flatten(1, 2)


def own_heads(context: ContextGroup, values: Tensor) -> Tensor:
    """Those of the values of all heads [H] that belong to this rank's heads, [H / ranks]."""
    return values.chunk(context.size)[context.index]


def _exchange(message: Tensor, context: ContextGroup) -> Tensor:
    found: Tensor = _Exchange.apply(message.contiguous(), context)
    return found


class _Exchange(torch.autograd.Function):
    """Sends part r of a tensor [ranks, ...] to rank r, and puts together what the ranks have sent. Its own inverse."""

    @staticmethod
    def forward(ctx: Any, message: Tensor, context: ContextGroup) -> Tensor:
        ctx.context = context
        received = torch.empty_like(message)
        dist.all_to_all_single(received, message, group=context.group)
        return received

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        sent = torch.empty_like(grad, memory_format=torch.contiguous_format)
        dist.all_to_all_single(sent, grad.contiguous(), group=ctx.context.group)
        return sent, None


class _Gather(torch.autograd.Function):
    """Results [m, ...] of all ranks, one after the other. Each has the whole gradient, and takes its own part of it."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, context: ContextGroup) -> Tensor:
        ctx.context = context
        everybody = [torch.empty_like(values) for _ in range(context.size)]
        dist.all_gather(everybody, values, group=context.group)
        return torch.cat(everybody)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return grad.chunk(ctx.context.size)[ctx.context.index], None

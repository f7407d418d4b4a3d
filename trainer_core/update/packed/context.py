"""Context parallelism: several ranks split the tokens of one micro-batch (DeepSpeed-Ulysses, arXiv 2309.14509).

    layers      each rank computes its own run of packed tokens, in the output layer too
    attention   heads for tokens before it, tokens for heads after it: each rank attends with some heads to all tokens
    loss        results of each predicted token are gathered, so that every rank has the loss of the whole

The gradient of a gathered value returns only to the rank that computed it. Each rank's backward pass gives the part of
the gradient that flows through its own tokens, and the sum over the ranks is the whole.
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
    """Packed tokens, int64 [n], the same number on every rank; padded at the end by repeating the last one."""
    rows: Tensor
    """Positions in ``tokens`` whose logits predict a target, int64 [m], the same number on every rank."""
    predicted: Tensor
    """The predicted token of each of ``rows``, int64 [m]; 0 for padding."""
    places: Tensor
    """Position of each predicted token's results in the concatenated results of all ranks, int64 [M]."""

    def to(self, device: torch.device) -> "TokenPart":
        """The part on ``device``."""
        tokens, rows, predicted, places = (
            move(one, device) for one in (self.tokens, self.rows, self.predicted, self.places)
        )
        return TokenPart(self.context, tokens, rows, predicted, places)

    def whole(self, values: Tensor) -> Tensor:
        """Gather all ranks' results [m, ...] for the predicted tokens, [M, ...], with gradient. Collective."""
        found: Tensor = _Gather.apply(values.contiguous(), self.context)
        return found.index_select(0, self.places)


def cut_tokens(context: ContextGroup, num_tokens: int, rows: Tensor) -> TokenPart | None:
    """This rank's part of a micro-batch; None if it computes all of it.

    Args:
        context: the ranks that split it.
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

    If there are fewer key-value heads than ranks, or they do not divide evenly, they are repeated first.

    Args:
        context: the ranks that split the tokens.
        query: [1, H, n, D] of this rank's tokens; H is a multiple of the ranks.
        key: [1, K, n, D].
        value: [1, K, n, E].

    Returns:
        [1, H / ranks, ranks · n, D], and the keys and values of the heads that these queries use.
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
        context: the ranks that split the tokens.
        output: [N, H / ranks, E] of all packed tokens; padded with zeros if N is less than ranks · n.
    """
    short = -len(output) % context.size
    full = nn.functional.pad(output, (0, 0, 0, 0, 0, short)) if short else output
    received = _exchange(full.unflatten(0, (context.size, -1)).contiguous(), context)
    return received.transpose(0, 1).flatten(1, 2)


def own_heads(context: ContextGroup, values: Tensor) -> Tensor:
    """This rank's part, [H / ranks], of the values of all heads [H]."""
    return values.chunk(context.size)[context.index]


def _exchange(message: Tensor, context: ContextGroup) -> Tensor:
    found: Tensor = _Exchange.apply(message.contiguous(), context)
    return found


class _Exchange(torch.autograd.Function):
    """Sends part r of a tensor [ranks, ...] to rank r, and concatenates what it receives. Its own inverse."""

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
    """Concatenated results [m, ...] of all ranks. Each rank has the whole gradient and takes its own part of it."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, context: ContextGroup) -> Tensor:
        ctx.context = context
        everybody = [torch.empty_like(values) for _ in range(context.size)]
        dist.all_gather(everybody, values, group=context.group)
        return torch.cat(everybody)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return grad.chunk(ctx.context.size)[ctx.context.index], None

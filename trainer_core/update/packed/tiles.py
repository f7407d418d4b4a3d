"""Attention of one segment, tile by tile, for every rule: windows, capped scores, values of any size, any device.

Tiles hidden by a window are never computed. Sums are in float32, or in float64 for float64 input.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from trainer_core.update.packed.rule import Rule
from trainer_core.update.packed.segment import Segment

TILE_SCORES = {"cpu": 1 << 20, "cuda": 1 << 25}
"""Scores of one tile over all heads: on a CPU, few enough for its cache."""
SHORTEST_SIDE, LONGEST_SIDE = 16, 1024


@dataclass(frozen=True, slots=True)
class SavedTiles:
    """Tensors saved for the backward pass of one segment."""

    slope: Tensor
    """Gradient of the output, [Lq, H, E]."""
    out: Tensor
    """Shape [Lq, H, E]."""
    logsumexp: Tensor
    """Logarithm of each query's sum of exponentials, including the sink, [H, Lq]."""
    mixed: Tensor
    """Sum of slope times output over E, [H, Lq]."""


@dataclass(frozen=True, slots=True)
class _Tile:
    keys: slice
    """Packed tokens."""
    ahead: int
    """Position of the first query minus that of the first key."""


def wide(tensor: Tensor) -> torch.dtype:
    """float64 for float64, float32 for everything else."""
    return torch.promote_types(tensor.dtype, torch.float32)


def forward(q: Tensor, k: Tensor, v: Tensor, segment: Segment, rule: Rule, out: Tensor, logsumexp: Tensor) -> None:
    """Write the output [Lq, H, E] and the logarithms of the sums [H, Lq] of one segment.

    ``q``, ``k`` and ``v`` are those of all tokens. Keeps a running maximum over the tiles (online softmax,
    arXiv 1805.02867).
    """
    kv_heads = k.shape[1]
    for queries, row in _rows(segment, rule, q):
        asked = _grouped(q[_packed(segment, queries)], kv_heads) * rule.scale
        top = total = mixed = None
        for tile in row:
            scores = _scores(asked, k, tile, rule)
            _hide(scores, queries, tile, rule, -torch.inf)
            highest = scores.amax(dim=-1, keepdim=True)
            if top is None or total is None or mixed is None:
                # Every query sees itself in its first tile, so no maximum is −∞.
                top, powers = highest, scores.sub_(highest).exp_()
                total = powers.sum(dim=-1, keepdim=True)
                mixed = powers @ _by_head(v, tile)
                continue
            highest = torch.maximum(top, highest)
            shrunk = top.sub_(highest).exp_()
            powers = scores.sub_(highest).exp_()
            total.mul_(shrunk).add_(powers.sum(dim=-1, keepdim=True))
            mixed.mul_(shrunk).baddbmm_(powers, _by_head(v, tile))
            top = highest
        assert top is not None and total is not None and mixed is not None
        out[queries] = _ungrouped(mixed.div_(total), queries)
        logsumexp[:, queries] = total.log_().add_(top).view(len(logsumexp), -1)


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
    kv_heads = k.shape[1]
    for queries, row in _rows(segment, rule, q):
        asked = _grouped(q[_packed(segment, queries)], kv_heads) * rule.scale
        slope = _grouped(saved.slope[queries], kv_heads)
        sums = saved.logsumexp[:, queries].reshape(kv_heads, -1, 1)
        mixed = saved.mixed[:, queries].reshape(kv_heads, -1, 1)
        to_asked = torch.zeros_like(asked)
        for tile in row:
            scores = _scores(asked, k, tile, rule)
            # d c·tanh(s / c) / ds = 1 − tanh²(s / c)
            bend = None if rule.softcap is None else (scores / rule.softcap).square_().neg_().add_(1)
            powers = scores.sub_(sums).exp_()
            _hide(powers, queries, tile, rule, 0.0)
            to_v[tile.keys].transpose(0, 1).baddbmm_(powers.transpose(1, 2), slope)
            flow = (slope @ _by_head(v, tile).transpose(1, 2)).sub_(mixed).mul_(powers)
            if bend is not None:
                flow.mul_(bend)
            to_asked.baddbmm_(flow, _by_head(k, tile))
            to_k[tile.keys].transpose(0, 1).baddbmm_(flow.transpose(1, 2), asked)
        to_q[_packed(segment, queries)] = _ungrouped(to_asked.mul_(rule.scale), queries).to(to_q.dtype)


def _rows(segment: Segment, rule: Rule, q: Tensor) -> Iterator[tuple[slice, list[_Tile]]]:
    """Runs of a segment's queries, each with the tiles of keys that it sees, starting with its own."""
    side = _side(q)
    before = segment.num_before
    for low in range(0, segment.num_queries, side):
        high = min(low + side, segment.num_queries)
        oldest = 0 if rule.window is None else max(0, before + low + 1 - rule.window)
        row = [
            _Tile(slice(segment.start + first, segment.start + last), low - first)
            for first, last in _backwards(max(0, oldest - before), high, side)
        ]
        until = before
        for start, stop in reversed(segment.prefix):
            since = until - (stop - start)
            row += [
                _Tile(slice(start + first - since, start + last - since), before + low - first)
                for first, last in _backwards(max(oldest, since), until, side)
            ]
            until = since
        yield slice(low, high), row


def _side(q: Tensor) -> int:
    scores = TILE_SCORES["cpu" if q.device.type == "cpu" else "cuda"]
    side = 1 << ((scores // q.shape[1]).bit_length() - 1) // 2
    return max(SHORTEST_SIDE, min(LONGEST_SIDE, side))


def _backwards(low: int, high: int, size: int) -> Iterator[tuple[int, int]]:
    for last in range(high, low, -size):
        yield max(low, last - size), last


def _packed(segment: Segment, queries: slice) -> slice:
    return slice(segment.start + queries.start, segment.start + queries.stop)


def _scores(asked: Tensor, k: Tensor, tile: _Tile, rule: Rule) -> Tensor:
    """Scores [K, G · n, keys] of a tile, capped."""
    scores = asked @ _by_head(k, tile).transpose(1, 2)
    if rule.softcap is not None:
        scores.div_(rule.softcap).tanh_().mul_(rule.softcap)
    return scores


def _hide(scores: Tensor, queries: slice, tile: _Tile, rule: Rule, value: float) -> None:
    """Write ``value`` where a query of the tile may not look."""
    count, keys = queries.stop - queries.start, tile.keys.stop - tile.keys.start
    future, old = tile.ahead < keys - 1, rule.window is not None and tile.ahead + count > rule.window
    if not future and not old:
        return
    distance = torch.arange(tile.ahead, tile.ahead + count, device=scores.device).unsqueeze(1)
    distance = distance - torch.arange(keys, device=scores.device)
    hidden = distance < 0
    if rule.window is not None:
        hidden |= distance >= rule.window
    scores.view(-1, count, keys).masked_fill_(hidden, value)


def _by_head(states: Tensor, tile: _Tile) -> Tensor:
    """Keys or values of a tile, [K, keys, size]."""
    return states[tile.keys].transpose(0, 1).to(wide(states))


def _grouped(states: Tensor, kv_heads: int) -> Tensor:
    """[n, H, size] as [K, G · n, size]: queries that share keys are multiplied together."""
    count, heads, size = states.shape
    grouped = states.view(count, kv_heads, heads // kv_heads, size).permute(1, 2, 0, 3)
    return grouped.reshape(kv_heads, -1, size).to(wide(states))


def _ungrouped(states: Tensor, queries: slice) -> Tensor:
    """[K, G · n, size] as [n, H, size]."""
    count = queries.stop - queries.start
    return states.view(-1, count, states.shape[-1]).transpose(0, 1)

"""Linear attention with decay over packed sequences, chunk by chunk, so memory is linear in the tokens, not quadratic.

Within a chunk the scores are a masked matrix; everything before the chunk is one state [D, E] per head.
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor

CHUNK = 64


def scan(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    slopes: Tensor,
    edges: Sequence[int],
    initial: Tensor,
    *,
    reverse: bool = False,
) -> tuple[Tensor, Tensor]:
    """Outputs [N, H, E] and the states [B, H, D, E] after each sequence's last token.

    Args:
        query: [N, H, D].
        key: [N, H, D].
        value: [N, H, E].
        slopes: [H]; a head's decay per token is exp(−slope).
        edges: B + 1 edges; sequence b is tokens edges[b] … edges[b + 1] − 1.
        initial: [B, H, D, E]; the state before each first token.
        reverse: from each sequence's last token to its first.
    """
    if reverse:
        back = _turned_round(edges, query.device)
        q, k, v = (part.index_select(0, back) for part in (query, key, value))
        out, final = scan(q, k, v, slopes, edges, initial)
        return out.index_select(0, back), final
    out, final = torch.empty_like(value), initial.clone()
    place = torch.arange(CHUNK, device=query.device)
    rate = slopes.view(-1, 1, 1)
    # [H, C, C]: exp(−slope·(t − s)) for s ≤ t, 0 for others.
    apart = (place.unsqueeze(1) - place).clamp(min=0)
    inside = torch.exp(-rate * apart) * (place.unsqueeze(1) >= place)
    since_start = torch.exp(-rate * (place + 1).view(1, -1, 1))
    for sequence, (first, last) in enumerate(pairwise(edges)):
        state = final[sequence]
        for low in range(first, last, CHUNK):
            high = min(low + CHUNK, last)
            size = high - low
            q, k, v = (part[low:high].transpose(0, 1) for part in (query, key, value))
            scores = (q @ k.transpose(1, 2)) * inside[:, :size, :size]
            out[low:high] = (scores @ v + (q * since_start[:, :size]) @ state).transpose(0, 1)
            to_end = torch.exp(-rate * (size - 1 - place[:size]).view(1, -1, 1))
            state = torch.exp(-rate * size) * state + (k * to_end).transpose(1, 2) @ v
        final[sequence] = state
    return out, final


def _turned_round(edges: Sequence[int], device: torch.device) -> Tensor:
    """Index [N] that reverses each sequence; it is its own inverse."""
    spans = [torch.arange(last - 1, first - 1, -1) for first, last in pairwise(edges)]
    return torch.cat([torch.zeros(0, dtype=torch.int64), *spans]).to(device)

"""Statistics of groups, and repeats in sequences, of unequal length, without padding."""

import torch
from torch import Tensor


def group_statistics(values: Tensor, starts: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Mean, population variance, minimum and maximum of each group, each [G]; 0 for an empty group."""
    sizes = starts.diff()
    owner = torch.repeat_interleave(torch.arange(len(sizes), device=values.device), sizes)
    zeros = values.new_zeros(len(sizes))
    count = sizes.clamp(min=1).to(values.dtype)
    mean = zeros.index_add(0, owner, values) / count
    # From the deviations, not from Σx², because the difference of two large numbers would lose all digits.
    variance = zeros.index_add(0, owner, (values - mean[owner]) ** 2) / count
    low = zeros.scatter_reduce(0, owner, values, "amin", include_self=False)
    high = zeros.scatter_reduce(0, owner, values, "amax", include_self=False)
    return mean, variance, low, high


def repeats_at_end(tokens: Tensor, starts: Tensor, max_period: int) -> Tensor:
    """Number of repeats of the best pattern of at most ``max_period`` tokens at each sequence's end, int64 [S]."""
    lengths, ends = starts.diff(), starts[1:]
    best = lengths.clamp(max=1)
    owner = torch.repeat_interleave(torch.arange(len(lengths), device=tokens.device), lengths)
    place = torch.arange(len(tokens), device=tokens.device)
    for period in range(1, max_period + 1):
        # The last token that differs from the one a period before it ends the repeats; so does the sequence's start.
        first = place - starts[owner] < period
        differs = first | (tokens != tokens.roll(period))
        stop = torch.full_like(lengths, -1).scatter_reduce(0, owner, torch.where(differs, place, -1), "amax")
        matching = ends - 1 - stop
        best = torch.maximum(best, torch.where(lengths > period, matching // period + 1, 0))
    return best

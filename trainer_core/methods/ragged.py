"""Operations within each sequence of a packed micro-batch, in time linear in its tokens."""

import torch
from torch import Tensor


def sequence_sum(values: Tensor, sequence: Tensor) -> Tensor:
    """Gives each token the sum over its sequence: ``values`` [N], ``sequence`` [N] int64 → [N]."""
    if not len(sequence):
        return values
    sums = values.new_zeros(int(sequence.max()) + 1).index_add(0, sequence, values)
    return sums[sequence]


def sequence_mean(values: Tensor, mask: Tensor, sequence: Tensor) -> Tensor:
    """Gives each token the mean over its sequence's tokens in ``mask`` [N]; 0 if a sequence has none."""
    counted = sequence_sum(mask.to(values.dtype), sequence)
    return sequence_sum(values.masked_fill(~mask, 0.0), sequence) / counted.clamp(min=1)


def suffix_sum(values: Tensor, sequence: Tensor) -> Tensor:
    """Gives each token the sum over itself and the tokens after it in its sequence: [N] → [N].

    The tokens of a sequence must be contiguous and in order.
    """
    if not len(sequence):
        return values
    _, lengths = sequence.unique_consecutive(return_counts=True)
    return torch.cat([part.flip(0).cumsum(0).flip(0) for part in values.split(lengths.tolist())])


def prefix_minimum(values: Tensor, sequence: Tensor) -> Tensor:
    """Gives each token the minimum of the tokens before it in its sequence; +inf for the first: [N] → [N].

    The tokens of a sequence must be contiguous and in order.
    """
    if not len(sequence):
        return values
    _, lengths = sequence.unique_consecutive(return_counts=True)
    before = values.roll(1)
    before[torch.cumsum(lengths, 0) - lengths] = torch.inf
    return torch.cat([part.cummin(0).values for part in before.split(lengths.tolist())])

"""The loss of examples: −log π_θ of the tokens that teach, in a step and of held-out rows."""

from collections.abc import Sequence

import torch
from torch import Tensor

from trainer_core.methods.losses.supervised import negative_log_likelihood
from trainer_core.update.packed.packing import TokenBatch
from trainer_core.update.totals import Totals

QUARTERS = ("first", "second", "third", "last")
"""Parts of an example's own tokens that teach, in order."""


def taught_share(batch: TokenBatch, logprobs: Tensor, sources: Sequence[str], tokens: int, totals: Totals) -> Tensor:
    """This micro-batch's share of the minibatch's mean over the tokens that teach, a scalar with gradient.

    Args:
        batch: M predicted tokens.
        logprobs: current policy, float32 [M], with gradient.
        sources: source of each sequence that the batch may hold.
        tokens: tokens of the whole minibatch that teach.
        totals: ``sft/loss`` is added here, and that of each source.
    """
    values = negative_log_likelihood(logprobs, batch.mask)
    _add_means(totals, batch, values.detach(), ["sft/loss"] * len(sources))
    _add_means(totals, batch, values.detach(), [f"sft/loss/{source}" for source in sources])
    return values.sum() / tokens


def add_held_out(totals: Totals, batch: TokenBatch, logprobs: Tensor, sources: Sequence[str]) -> None:
    """Add the loss of a micro-batch of held-out examples by source, and by source and quarter of the example."""
    values = negative_log_likelihood(logprobs, batch.mask)
    names = [f"eval/{source}/loss" for source in sources]
    _add_means(totals, batch, values, names)
    _add_means(totals, batch, values, names, parts=QUARTERS)


def _add_means(
    totals: Totals, batch: TokenBatch, values: Tensor, names: Sequence[str], *, parts: Sequence[str] = ()
) -> None:
    """Add means of ``values`` [M] over the tokens in the mask, by the name of their sequence and perhaps its part."""
    if not bool(batch.mask.any()):
        return  # it only keeps the ranks in step, and may be of another rank's examples
    distinct = sorted(set(names))
    number = torch.tensor([distinct.index(name) for name in names], device=batch.sequence.device)
    key, width = number[batch.sequence], len(distinct)
    if parts:
        key, width = key * len(parts) + _part(batch.sequence, len(parts)), width * len(parts)
        distinct = [f"{name}/{part}" for name in distinct for part in parts]
    key = key[batch.mask]
    sums = torch.zeros(width, dtype=torch.float64, device=key.device)
    sums.index_add_(0, key, values[batch.mask].double())
    counts = torch.bincount(key, minlength=width)
    for name, total, count in zip(distinct, sums.tolist(), counts.tolist(), strict=True):
        if count:
            totals.add_metrics({name: total / count}, count)


def _part(sequence: Tensor, count: int) -> Tensor:
    """Part of its sequence, of ``count`` equal ones, that each predicted token begins in, int64 [M].

    The tokens of a sequence must be contiguous and in order.
    """
    _, lengths = sequence.unique_consecutive(return_counts=True)
    starts = torch.cumsum(lengths, 0) - lengths
    place = torch.arange(len(sequence), device=sequence.device) - starts.repeat_interleave(lengths)
    return place * count // lengths.repeat_interleave(lengths)

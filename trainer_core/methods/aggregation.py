"""Aggregation: from token values to one number, the same however a batch is cut into micro-batches."""

import torch
from torch import Tensor

from trainer_core.methods.masked import masked_sum
from trainer_core.spec.aggregation import Aggregation, SequenceMean, TokenMean


def aggregate(
    spec: Aggregation,
    token_values: Tensor,
    mask: Tensor,
    sequence: Tensor,
    *,
    num_sequences: int | None = None,
    num_tokens: int | None = None,
) -> Tensor:
    """Mean of ``token_values`` [N] over the mask, per token or per sequence.

    ``num_sequences`` and ``num_tokens`` are the counts of the whole batch over all micro-batches and ranks; the values
    of the micro-batches then sum to the value of the batch. Left out, the counts are those of this micro-batch.
    Sequences must not be cut. A sequence without a counted token does not count.
    """
    match spec:
        case TokenMean():
            total = num_tokens if num_tokens is not None else int(mask.sum())
            return masked_sum(token_values, mask) / max(total, 1)
        case SequenceMean():
            size = int(sequence.max()) + 1 if len(sequence) else 0
            lengths = torch.zeros(size, dtype=token_values.dtype, device=token_values.device)
            lengths = lengths.index_add(0, sequence, mask.to(token_values.dtype))
            total = num_sequences if num_sequences is not None else int((lengths > 0).sum())
            weights = mask / lengths[sequence].clamp(min=1)
            return (token_values.masked_fill(~mask, 0.0) * weights).sum() / max(total, 1)

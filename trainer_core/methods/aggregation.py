"""Aggregation: from token values to one number, the same however a batch is cut into micro-batches and over ranks."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from trainer_core.methods.ragged import sequence_sum
from trainer_core.spec.methods.aggregation import (
    Aggregation,
    ConstantNormaliser,
    PromptMean,
    SampleAndTokenMean,
    SequenceMean,
    TokenMean,
)


@dataclass(frozen=True, slots=True)
class Denominators:
    """Counts over the whole minibatch: all micro-batches of all ranks."""

    sequences: int
    """Trajectories that take part in the loss."""
    tokens: int
    """Their sampled tokens."""
    prompt_tokens: Mapping[int, int]
    """The same tokens by the key of their prompt (``TokenBatch.prompt``)."""


def aggregate(
    spec: Aggregation, token_values: Tensor, mask: Tensor, sequence: Tensor, prompt: Tensor, whole: Denominators
) -> Tensor:
    """This micro-batch's share of the mean of ``token_values`` [N] over the minibatch; the shares sum to that mean.

    Args:
        spec: which mean.
        token_values: [N]; outside the mask they may be anything.
        mask: tokens that count, bool [N].
        sequence: index of each token's trajectory, int64 [N]. Sequences must not be cut.
        prompt: key of each token's prompt, int64 [N]. The samples of a prompt may lie in several micro-batches.
        whole: the counts to divide by.
    """
    weights = token_weights(spec, mask, sequence, prompt, whole, token_values.dtype)
    return (token_values.masked_fill(~mask, 0.0) * weights).sum()


def token_weights(
    spec: Aggregation, mask: Tensor, sequence: Tensor, prompt: Tensor, whole: Denominators, dtype: torch.dtype
) -> Tensor:
    """What the value of each token is multiplied with before the sum, [N]; arguments as of ``aggregate``."""
    tokens, sequences = max(whole.tokens, 1), max(whole.sequences, 1)
    match spec:
        case TokenMean():
            return mask.to(dtype) / tokens
        case SequenceMean():
            return mask / (sequence_sum(mask.to(dtype), sequence).clamp(min=1) * sequences)
        case PromptMean():
            keys, index = prompt.unique(return_inverse=True)
            # A prompt none of whose tokens counts is not among the counted; its tokens lie outside the mask.
            sizes = torch.tensor([whole.prompt_tokens.get(key, 1) for key in keys.tolist()], device=mask.device)
            return mask.to(dtype) / (sizes[index] * max(len(whole.prompt_tokens), 1))
        case ConstantNormaliser():
            return mask.to(dtype) / (spec.divisor * sequences)
        case SampleAndTokenMean():
            parts = [
                token_weights(each, mask, sequence, prompt, whole, dtype) for each in (TokenMean(), SequenceMean())
            ]
            return spec.token_share * parts[0] + (1 - spec.token_share) * parts[1]

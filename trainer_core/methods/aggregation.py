"""Aggregation: from token values to one number, independent of how a batch is split into micro-batches and over
ranks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

import torch
from torch import Tensor

from trainer_core.methods.ragged import sequence_sum
from trainer_core.methods.table import Table
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
    """Trajectories that contribute to the loss."""
    tokens: int
    """Sampled tokens of these trajectories."""
    prompt_tokens: Mapping[int, int]
    """Sampled tokens by the key of their prompt (``TokenBatch.prompt``)."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a micro-batch, as aggregations see them."""

    mask: Tensor
    """Tokens that count, bool [N]."""
    sequence: Tensor
    """Index of each token's trajectory, int64 [N]. Sequences must not be split."""
    prompt: Tensor
    """Key of each token's prompt, int64 [N]. The samples of a prompt may be in several micro-batches."""
    whole: Denominators
    """The counts to divide by."""
    dtype: torch.dtype
    """Number format of the weights."""

    @property
    def counted(self) -> Tensor:
        """1 for tokens that count, else 0, [N]."""
        return self.mask.to(self.dtype)

    @property
    def sequences(self) -> int:
        """Trajectories of the minibatch; at least 1."""
        return max(self.whole.sequences, 1)


def aggregate(
    spec: Aggregation, token_values: Tensor, mask: Tensor, sequence: Tensor, prompt: Tensor, whole: Denominators
) -> Tensor:
    """This micro-batch's share of the mean of ``token_values`` [N] over the minibatch; the shares sum to that mean.

    Args:
        spec: which mean.
        token_values: [N]; outside the mask they may be anything.
        mask: tokens that count, bool [N].
        sequence: index of each token's trajectory, int64 [N]. Sequences must not be split.
        prompt: key of each token's prompt, int64 [N]. The samples of a prompt may be in several micro-batches.
        whole: the counts to divide by.
    """
    weights = token_weights(spec, mask, sequence, prompt, whole, token_values.dtype)
    return (token_values.masked_fill(~mask, 0.0) * weights).sum()


def token_weights(
    spec: Aggregation, mask: Tensor, sequence: Tensor, prompt: Tensor, whole: Denominators, dtype: torch.dtype
) -> Tensor:
    """Weight that multiplies the value of each token before the sum, [N]; arguments as in ``aggregate``."""
    return FORMULAS.of(spec)(spec, Tokens(mask, sequence, prompt, whole, dtype))


def _token_mean(spec: TokenMean, tokens: Tokens) -> Tensor:
    return tokens.counted / max(tokens.whole.tokens, 1)


def _sequence_mean(spec: SequenceMean, tokens: Tokens) -> Tensor:
    lengths = sequence_sum(tokens.counted, tokens.sequence).clamp(min=1)
    return tokens.mask / (lengths * tokens.sequences)


def _prompt_mean(spec: PromptMean, tokens: Tokens) -> Tensor:
    keys, index = tokens.prompt.unique(return_inverse=True)
    counts = tokens.whole.prompt_tokens
    # A prompt without counted tokens has no entry in the counts; its tokens are outside the mask.
    sizes = torch.tensor([counts.get(key, 1) for key in keys.tolist()], device=tokens.mask.device)
    return tokens.counted / (sizes[index] * max(len(counts), 1))


def _constant(spec: ConstantNormaliser, tokens: Tokens) -> Tensor:
    return tokens.counted / (spec.divisor * tokens.sequences)


def _sample_and_token(spec: SampleAndTokenMean, tokens: Tokens) -> Tensor:
    by_token, by_sequence = _token_mean(TokenMean(), tokens), _sequence_mean(SequenceMean(), tokens)
    return spec.token_share * by_token + (1 - spec.token_share) * by_sequence


FORMULAS: Table[Callable[[Any, Tokens], Tensor]] = Table(
    "aggregation",
    get_args(get_args(Aggregation)[0]),
    {
        TokenMean: _token_mean,
        SequenceMean: _sequence_mean,
        PromptMean: _prompt_mean,
        ConstantNormaliser: _constant,
        SampleAndTokenMean: _sample_and_token,
    },
)
"""``(spec, tokens) -> weight of each token [N]``."""

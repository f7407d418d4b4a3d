"""Log-probability and entropy of predicted tokens, in float32 and in chunks, so that memory stays small."""

from typing import Any

import torch
from torch import Tensor

from trainer_core.methods.entropy import entropy as entropy_of

CHUNK_ELEMENTS = 1 << 24
"""Number of logits (positions times vocabulary) held in float32 at a time."""


def token_logprobs(logits: Tensor, targets: Tensor, temperature: Tensor) -> tuple[Tensor, Tensor]:
    """Natural-log probability of each target at its temperature, and the entropy of its distribution.

    Args:
        logits: [M, V], any floating type.
        targets: int64 [M].
        temperature: float32 [M]; logits are divided by it.

    Returns:
        float32 [M] with gradient, and float32 [M] without.
    """
    logprobs, entropies = _TokenLogprobs.apply(logits, targets, temperature)
    return logprobs, entropies


class _TokenLogprobs(torch.autograd.Function):
    """Saves the logits and one number per position for the backward pass, not a second matrix of their size."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, targets: Tensor, temperature: Tensor) -> tuple[Tensor, Tensor]:
        normalizers, logprobs, entropies = [], [], []
        for part, target, heat in chunks(logits, targets, temperature):
            scaled = part.float() / heat.unsqueeze(1)
            normalizer = torch.logsumexp(scaled, dim=-1)
            normalizers.append(normalizer)
            logprobs.append(scaled.gather(1, target.unsqueeze(1)).squeeze(1) - normalizer)
            entropies.append(entropy_of(scaled))
        ctx.save_for_backward(logits, targets, temperature, torch.cat(normalizers))
        entropies_all = torch.cat(entropies)
        ctx.mark_non_differentiable(entropies_all)
        return torch.cat(logprobs), entropies_all

    @staticmethod
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor, None, None]:
        logits, targets, temperature, normalizers = ctx.saved_tensors
        result = torch.empty_like(logits)
        done = 0
        for part, target, heat, normalizer, slope in chunks(logits, targets, temperature, normalizers, grad):
            # d log p(target) / d logit_v = (1[v = target] − p(v)) / temperature
            weight = (slope / heat).unsqueeze(1)
            inner = (part.float() / heat.unsqueeze(1)).sub_(normalizer.unsqueeze(1)).exp_().mul_(-weight)
            inner.scatter_add_(1, target.unsqueeze(1), weight)
            result[done : done + len(part)] = inner
            done += len(part)
        return result, None, None


def chunks(logits: Tensor, *others: Tensor) -> list[tuple[Tensor, ...]]:
    """The logits [M, V] and other values of their positions [M, ...], some positions at a time."""
    size = max(1, CHUNK_ELEMENTS // logits.shape[-1])
    return list(zip(*(tensor.split(size) for tensor in (logits, *others)), strict=True))

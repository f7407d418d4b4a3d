"""Log-probabilities of the likeliest or of given tokens, in chunks, so that memory stays small."""

from typing import Any

import torch
from torch import Tensor

from trainer_core.update.model.logprobs import chunks


def likeliest_logprobs(logits: Tensor, temperature: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Log-probabilities of the ``count`` likeliest tokens, [M, K] with gradient, and their ids, int64 [M, K].

    Args:
        logits: [M, V], any floating type; the computation is in float32, of doubles in float64.
        temperature: [M]; logits are divided by it.
        count: K; the whole vocabulary if it is smaller.
    """
    size = min(count, logits.shape[1])
    with torch.no_grad():
        parts = [part.topk(size, dim=1).indices for part, _ in chunks(logits, temperature)]
    ids = torch.cat(parts) if parts else logits.new_zeros((0, size), dtype=torch.int64)
    return named_logprobs(logits, temperature, ids), ids


def named_logprobs(logits: Tensor, temperature: Tensor, ids: Tensor) -> Tensor:
    """Log-probabilities of the tokens ``ids`` [M, K], which differ within a row, as [M, K] with gradient.

    Arguments are those of ``likeliest_logprobs``.
    """
    found: Tensor = _NamedLogprobs.apply(logits, temperature, ids)
    return found


class _NamedLogprobs(torch.autograd.Function):
    """Saves the logits and one number per position for the backward pass, not a second matrix of their size."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, temperature: Tensor, ids: Tensor) -> Tensor:
        found, normalizers = [], []
        for part, heat, chosen in chunks(logits, temperature, ids):
            scaled = _scaled(part, heat)
            normalizers.append(torch.logsumexp(scaled, dim=1))
            found.append(scaled.gather(1, chosen) - normalizers[-1].unsqueeze(1))
        ctx.save_for_backward(logits, temperature, ids, torch.cat(normalizers) if normalizers else temperature)
        return torch.cat(found) if found else logits.new_zeros(ids.shape)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        logits, temperature, ids, normalizers = ctx.saved_tensors
        result = torch.empty_like(logits)
        done = 0
        for part, heat, chosen, normalizer, slope in chunks(logits, temperature, ids, normalizers, grad):
            # d log p(k) / d logit_v = (1[v = k] − p(v)) / temperature, summed over the named k.
            slope = slope / heat.unsqueeze(1)
            inner = _scaled(part, heat).sub_(normalizer.unsqueeze(1)).exp_().mul_(-slope.sum(1, keepdim=True))
            result[done : done + len(part)] = inner.scatter_add_(1, chosen, slope.to(inner.dtype))
            done += len(part)
        return result, None, None


def _scaled(part: Tensor, heat: Tensor) -> Tensor:
    wide = part if part.dtype == torch.float64 else part.float()
    return wide / heat.unsqueeze(1)

"""Entropy of predicted tokens with its gradient, in chunks, so that memory stays small."""

from typing import Any

import torch
from torch import Tensor

from trainer_core.update.model.logprobs import chunks


def token_entropies(logits: Tensor, temperature: Tensor) -> Tensor:
    """Entropy of the distribution over the next token, in nats, at its temperature, [M] with gradient.

    Args:
        logits: [M, V], any floating type; the computation is in float32, of doubles in float64.
        temperature: [M]; logits are divided by it.
    """
    found: Tensor = _TokenEntropies.apply(logits, temperature)
    return found


class _TokenEntropies(torch.autograd.Function):
    """Saves only the logits for the backward pass, not a second matrix of their size."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, temperature: Tensor) -> Tensor:
        ctx.save_for_backward(logits, temperature)
        parts = [_entropy(*_log_probs(part, heat)) for part, heat in chunks(logits, temperature)]
        return torch.cat(parts) if parts else logits.new_zeros(0)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        logits, temperature = ctx.saved_tensors
        result = torch.empty_like(logits)
        done = 0
        for part, heat, slope in chunks(logits, temperature, grad):
            # dH / dz_v = −p_v · (log p_v + H), of scaled logits z.
            log_probs, probs = _log_probs(part, heat)
            inner = -probs * (log_probs + _entropy(log_probs, probs).unsqueeze(1))
            result[done : done + len(part)] = inner * (slope / heat).unsqueeze(1)
            done += len(part)
        return result, None


def _log_probs(part: Tensor, heat: Tensor) -> tuple[Tensor, Tensor]:
    """Log-probabilities (0 for a token that is ruled out) and probabilities."""
    wide = part if part.dtype == torch.float64 else part.float()
    found = (wide / heat.unsqueeze(1)).log_softmax(dim=-1)
    return found.masked_fill(found.isneginf(), 0.0), found.exp()


def _entropy(log_probs: Tensor, probs: Tensor) -> Tensor:
    return -(probs * log_probs).sum(dim=-1)

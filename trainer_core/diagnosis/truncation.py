"""Probability mass that top-k and top-p sampling keep: the engine renormalises over it, the learner does not."""

import torch
from torch import Tensor


def log_kept_mass(logits: Tensor, *, temperature: float, top_p: float = 1.0, top_k: int = 0) -> Tensor:
    """Natural log of the mass that truncated sampling keeps, per position.

    Top-k is applied first, as in vLLM, then top-p to the renormalised rest: the smallest set of the likeliest tokens
    whose mass reaches ``top_p``, at least one token.

    Args:
        logits: [N, V], any floating type.
        temperature: logits are divided by it first.
        top_p: 1 keeps all.
        top_k: 0 keeps all.

    Returns:
        float64 [N], at most 0.
    """
    if top_p >= 1.0 and not 0 < top_k < logits.shape[-1]:
        return torch.zeros(len(logits), dtype=torch.float64, device=logits.device)
    probabilities = torch.softmax(logits.double() / temperature, dim=-1).sort(dim=-1, descending=True).values
    if 0 < top_k < probabilities.shape[-1]:
        probabilities = probabilities[:, :top_k]
    if top_p < 1.0:
        whole = probabilities.sum(dim=-1, keepdim=True)
        # A token is kept as long as the mass before it has not reached top_p.
        before = probabilities.cumsum(dim=-1) - probabilities
        probabilities = torch.where(before < top_p * whole, probabilities, 0.0)
    return probabilities.sum(dim=-1).clamp(max=1.0).log()

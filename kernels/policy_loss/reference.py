"""Loss, its slope and every metric of a run of tokens, block by block; sums in float64."""

import torch
from torch import Tensor

BLOCK = 1 << 16
LOG_BOUND = 20.0
"""Bound at which log-ratios are clipped, without gradient beyond it: one broken token must not overflow."""
SUMS = ("tokens", "ratio", "ratio_square", "low", "high", "k1", "k3", "weight", "weight_square")


def forward(
    logprobs: Tensor,
    old: Tensor,
    behaviour: Tensor,
    advantages: Tensor,
    mask: Tensor,
    ratio_min: float,
    ratio_max: float,
    weight_clip: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Losses [N], slopes d loss / d logprob [N], sums in the order of ``SUMS``, and the ratios' (minimum, maximum).

    With ``weight_clip``, the band bounds the weight of a token (CISPO), otherwise its surrogate (PPO).
    """
    loss, slope = torch.zeros_like(logprobs), torch.zeros_like(logprobs)
    sums = torch.zeros(len(SUMS), dtype=torch.float64, device=logprobs.device)
    ends = torch.tensor([torch.inf, -torch.inf], dtype=logprobs.dtype, device=logprobs.device)
    for low in range(0, len(logprobs), BLOCK):
        part = slice(low, low + BLOCK)
        counts = mask[part]
        given = (values[part].masked_fill(~counts, 0.0) for values in (logprobs, old, behaviour, advantages))
        current, before, sampler, advantage = given
        free = current - before
        log_ratio = free.clamp(-LOG_BOUND, LOG_BOUND)
        ratio = log_ratio.exp()
        clipped = ratio.clamp(ratio_min, ratio_max)
        if weight_clip:
            moved = advantage != 0
            under, over = (ratio < ratio_min) & moved, (ratio > ratio_max) & moved
            slope[part] = -clipped * advantage
            loss[part] = slope[part] * current
        else:
            under, over = (ratio < ratio_min) & (advantage < 0), (ratio > ratio_max) & (advantage > 0)
            binds = under | over
            loss[part] = -advantage * torch.where(binds, clipped, ratio)
            slope[part] = torch.where(binds | (free.abs() > LOG_BOUND), 0.0, -advantage * ratio)
        weight = (before - sampler).clamp(-LOG_BOUND, LOG_BOUND).exp()
        columns = (ratio, ratio**2, under, over, -free, ratio - 1 - log_ratio, weight, weight**2)
        sums[0] += counts.sum()
        for number, column in enumerate(columns, 1):
            sums[number] += column.double().masked_fill(~counts, 0.0).sum()
        if bool(counts.any()):
            ends[0] = torch.minimum(ends[0], ratio[counts].min())
            ends[1] = torch.maximum(ends[1], ratio[counts].max())
    return loss, slope, sums, ends

"""Benchmark of the one-pass losses against the same loss and metrics in separate torch operations."""

from collections.abc import Callable

import torch
from torch import Tensor

from kernels.policy_loss import policy_loss


def cases(tokens: int, device: str = "cpu") -> dict[str, Callable[[], None]]:
    """Forward and backward pass by name."""
    generator = torch.Generator().manual_seed(0)
    old, step, sampler, advantages = (torch.randn(tokens, generator=generator).to(device) for _ in range(4))
    old = -old.abs()
    current, behaviour = (old + 0.1 * step).requires_grad_(), old + 0.1 * sampler
    mask = torch.ones(tokens, dtype=torch.bool, device=device)

    def one_pass() -> None:
        loss, _ = policy_loss(
            current, old, behaviour, advantages, mask, method="ppo_clip", ratio_min=0.8, ratio_max=1.28
        )
        torch.autograd.grad(loss.sum(), current)

    def separate() -> None:
        ratio = (current - old).exp()
        free, clipped = -advantages * ratio, -advantages * ratio.clamp(0.8, 1.28)
        loss = torch.maximum(free, clipped)
        with torch.no_grad():
            weight = (old - behaviour).exp()
            _metrics(ratio, clipped > free, advantages, weight)
        torch.autograd.grad(loss.sum(), current)

    return {"one pass": one_pass, "separate": separate}


def _metrics(ratio: Tensor, binds: Tensor, advantages: Tensor, weight: Tensor) -> list[Tensor]:
    log_ratio = ratio.log()
    shares = [(binds & (advantages < 0)).float().mean(), (binds & (advantages > 0)).float().mean()]
    moments = [ratio.mean(), ratio.square().mean(), ratio.min(), ratio.max()]
    return [*shares, *moments, -log_ratio.mean(), (ratio - 1 - log_ratio).mean(), weight.mean(), weight.square().mean()]

"""Benchmark of the fused log-probability against computing all logits at once, as most trainers do."""

from collections.abc import Callable

import torch
from torch import Tensor

from kernels.linear_logprob import linear_logprob


def cases(
    tokens: int, width: int, vocabulary: int, device: str = "cpu", dtype: torch.dtype = torch.float32
) -> dict[str, Callable[[], None]]:
    """Forward and backward pass by name; each call clears the previous call's gradients."""
    generator = torch.Generator().manual_seed(0)

    def made(*shape: int) -> Tensor:
        return (torch.randn(*shape, generator=generator) * width**-0.25).to(device, dtype).requires_grad_()

    hidden, weight = made(tokens, width), made(vocabulary, width)
    targets = torch.randint(0, vocabulary, (tokens,), generator=generator).to(device)
    heat, slope = torch.ones(tokens, device=device), torch.randn(tokens, generator=generator).to(device)

    def run(function: Callable[[], Tensor]) -> Callable[[], None]:
        def call() -> None:
            hidden.grad = weight.grad = None
            (function() * slope).sum().backward()

        return call

    def naive() -> Tensor:
        logprobs = torch.log_softmax((hidden @ weight.T).float() / heat.unsqueeze(1), dim=-1)
        with torch.no_grad():
            # Every trainer reports the entropy, so it is part of the work.
            _ = -(logprobs.exp() * logprobs).sum(-1)
        return logprobs.gather(1, targets.unsqueeze(1)).squeeze(1)

    return {
        "naive": run(naive),
        "fused": run(lambda: linear_logprob(hidden, weight, targets, heat)[0]),
    }

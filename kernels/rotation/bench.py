"""Benchmark of the rotation against torch's operations one after another."""

from collections.abc import Callable

import torch

from kernels.backend import Backend
from kernels.rotation import rotate


def cases(
    tokens: int, heads: int, size: int, device: str = "cpu", dtype: torch.dtype = torch.bfloat16
) -> dict[str, Callable[[], None]]:
    """Forward and backward pass by name; on a CPU both names use the same path."""
    generator = torch.Generator().manual_seed(0)
    x, slope = (torch.randn(tokens, heads, size, generator=generator).to(device, dtype) for _ in range(2))
    cosine, sine = (torch.randn(tokens, size, generator=generator).to(device, dtype) for _ in range(2))
    leaf = x.requires_grad_()

    def run(backend: Backend) -> Callable[[], None]:
        def call() -> None:
            torch.autograd.grad(rotate(leaf, cosine, sine, backend=backend), leaf, slope)

        return call

    return {"by operations": run("reference"), "fused": run("auto")}

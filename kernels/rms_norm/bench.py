"""Benchmark of the normalisation against torch's operations one after another."""

from collections.abc import Callable

import torch

from kernels.backend import Backend
from kernels.rms_norm import rms_norm


def cases(
    rows: int, size: int, device: str = "cpu", dtype: torch.dtype = torch.bfloat16
) -> dict[str, Callable[[], None]]:
    """Forward and backward pass by name; on a CPU both names use the same path."""
    generator = torch.Generator().manual_seed(0)
    x, weight, slope = (
        torch.randn(*shape, generator=generator).to(device, dtype) for shape in ((rows, size), (size,), (rows, size))
    )
    leaves = [x.requires_grad_(), weight.requires_grad_()]

    def run(backend: Backend) -> Callable[[], None]:
        def call() -> None:
            torch.autograd.grad(rms_norm(x, weight, 1e-6, "rounded_first", backend=backend), leaves, slope)

        return call

    return {"by operations": run("reference"), "fused": run("auto")}

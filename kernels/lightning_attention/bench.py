"""Benchmark of lightning attention against torch's softmax attention over the same tokens."""

from collections.abc import Callable

import torch

from kernels.lightning_attention import lightning_attention


def cases(
    tokens: int, heads: int = 4, size: int = 64, device: str = "cpu", dtype: torch.dtype = torch.float32
) -> dict[str, Callable[[], None]]:
    """Forward and backward pass by name."""
    generator = torch.Generator().manual_seed(0)
    made = [torch.randn(tokens, heads, size, generator=generator).to(device, dtype) for _ in range(3)]
    leaves = [part.requires_grad_() for part in made]
    slopes = torch.logspace(-3, 0, heads, device=device)
    starts = torch.tensor([0, tokens // 4, tokens], device=device)

    def lightning() -> None:
        out, _ = lightning_attention(leaves[0], leaves[1], leaves[2], slopes, starts)
        torch.autograd.grad(out.sum(), leaves)

    def softmax() -> None:
        parts = [part.transpose(0, 1).unsqueeze(0) for part in leaves]
        out = torch.nn.functional.scaled_dot_product_attention(parts[0], parts[1], parts[2], is_causal=True)
        torch.autograd.grad(out.sum(), leaves)

    return {"lightning": lightning, "softmax": softmax}

"""The Triton path of lightning attention against the reference."""

import pytest
import torch

from kernels.lightning_attention import lightning_attention
from kernels.lightning_attention import triton as compiled


@pytest.mark.parametrize(("depth", "width"), [(16, 16), (5, 20)])
@pytest.mark.parametrize("starts", [[0, 40], [0, 7, 7, 23, 40], [0]])
def test_values_and_gradients(monkeypatch: pytest.MonkeyPatch, starts: list[int], depth: int, width: int) -> None:
    monkeypatch.setattr(compiled, "CHUNK", 16)
    monkeypatch.setattr(compiled, "MAX_COLUMNS", 16)
    generator = torch.Generator().manual_seed(0)
    tokens, edges, slopes = starts[-1], torch.tensor(starts), torch.tensor([0.1, 1.0])
    shapes = ((tokens, 2, depth), (tokens, 2, depth), (tokens, 2, width), (len(starts) - 1, 2, depth, width))
    parts = [torch.randn(shape, generator=generator) for shape in shapes]
    slope, last = (torch.randn(shape, generator=generator) for shape in shapes[2:])
    found = []
    for backend in ("reference", "triton"):
        leaves = [part.clone().requires_grad_() for part in parts]
        out, final = lightning_attention(*leaves[:3], slopes, edges, leaves[3], backend=backend)
        total = (out * slope).sum() + (final * last).sum()
        found.append([out, final, *torch.autograd.grad(total, leaves)])
    for mine, theirs in zip(*found, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-4)

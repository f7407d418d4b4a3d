"""The Triton path of lightning attention against the reference."""

import pytest
import torch

from kernels.lightning_attention import lightning_attention
from kernels.lightning_attention import triton as compiled


@pytest.mark.parametrize(("depth", "width"), [(16, 16), (5, 20)])
@pytest.mark.parametrize("starts", [[0, 40], [0, 7, 7, 23, 40], [0]])
@pytest.mark.parametrize("shortest", [16, 512], ids=["cut", "whole"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_values_and_gradients(
    monkeypatch: pytest.MonkeyPatch, starts: list[int], depth: int, width: int, shortest: int, dtype: torch.dtype
) -> None:
    monkeypatch.setitem(compiled.TILES, dtype, compiled.ScanTiles(16, 16, 4))
    monkeypatch.setattr(compiled, "SHORTEST", shortest)
    generator = torch.Generator().manual_seed(0)
    tokens, edges, slopes = starts[-1], torch.tensor(starts), torch.tensor([0.1, 1.0])
    shapes = ((tokens, 2, depth), (tokens, 2, depth), (tokens, 2, width), (len(starts) - 1, 2, depth, width))
    parts = [torch.randn(shape, generator=generator).to(dtype) for shape in shapes]
    slope, last = (torch.randn(shape, generator=generator) for shape in shapes[2:])
    parts[3] = parts[3].float()
    found = []
    for backend in ("reference", "triton"):
        leaves = [part.clone().requires_grad_() for part in parts]
        out, final = lightning_attention(*leaves[:3], slopes, edges, leaves[3], backend=backend)
        total = (out * slope).sum() + (final * last).sum()
        found.append([out, final, *torch.autograd.grad(total, leaves)])
    near = {torch.float32: 1e-4, torch.float16: 4e-3, torch.bfloat16: 3e-2}[dtype]
    for mine, theirs in zip(*found, strict=True):
        # Entries are sums of many: what is lost of a large one shows in a small one.
        most = max(1.0, float(theirs.detach().abs().max())) if theirs.numel() else 1.0
        torch.testing.assert_close(mine, theirs, rtol=near, atol=near * most)


def test_how_sequences_are_cut() -> None:
    assert compiled.cut([0, 7, 7, 23], 8) == ([0, 7, 15, 23], [0, 1, 1, 3])
    assert compiled.cut([0], 8) == ([0], [0])
    assert compiled.cut([0, 0], 8) == ([0], [0, 0])

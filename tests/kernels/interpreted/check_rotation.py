"""The Triton path of the rotation against the reference: heads in several tiles, tokens or heads first in memory."""

import pytest
import torch
from torch import Tensor

from kernels.backend import Backend
from kernels.rotation import rotate
from kernels.rotation import triton as compiled


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("heads_first", [False, True])
@pytest.mark.parametrize(("tokens", "heads", "size"), [(0, 2, 8), (1, 1, 2), (7, 5, 12)])
def test_values_and_gradients(
    monkeypatch: pytest.MonkeyPatch, tokens: int, heads: int, size: int, heads_first: bool, dtype: torch.dtype
) -> None:
    monkeypatch.setattr(compiled, "HEADS", 2)
    found = [answers(tokens, heads, size, heads_first, dtype, backend) for backend in ("reference", "triton")]
    for mine, theirs in zip(*found, strict=True):
        # The interpreter cuts numbers off where a card rounds them: see tests/gpu/test_kernels.py.
        torch.testing.assert_close(mine, theirs, rtol=0, atol=0.1 if dtype == torch.bfloat16 else 1e-6)


def answers(
    tokens: int, heads: int, size: int, heads_first: bool, dtype: torch.dtype, backend: Backend
) -> list[Tensor]:
    generator = torch.Generator().manual_seed(tokens)
    x, slope = (torch.randn(tokens, heads, size, generator=generator).to(dtype) for _ in range(2))
    cosine, sine = (torch.randn(tokens, size, generator=generator).to(dtype) for _ in range(2))
    if heads_first:
        x, slope = (one.transpose(0, 1).contiguous().transpose(0, 1) for one in (x, slope))
    out = rotate(x.requires_grad_(), cosine, sine, backend=backend)
    return [out.detach(), torch.autograd.grad(out, x, slope)[0]]

"""The Triton path of the RMS norm against the reference: rows in tiles, tiles of one row, programs of many tiles."""

from typing import get_args

import pytest
import torch
from torch import Tensor

from kernels.backend import Backend
from kernels.rms_norm import Gain, rms_norm
from kernels.rms_norm import triton as compiled


@pytest.mark.parametrize("size", [5, 40, 100])
@pytest.mark.parametrize("rows", [0, 1, 19])
@pytest.mark.parametrize("gain", get_args(Gain))
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_values_and_gradients(
    monkeypatch: pytest.MonkeyPatch, gain: Gain, rows: int, size: int, dtype: torch.dtype
) -> None:
    monkeypatch.setattr(compiled, "TILE_ELEMENTS", 64)
    monkeypatch.setattr(compiled, "PROGRAMS", 3)
    found: list[list[Tensor]] = []
    for backend in ("reference", "triton"):
        found.append(answers(gain, rows, size, dtype, backend))
    tolerance = 1e-5 if dtype == torch.float32 else 2e-2
    for mine, theirs in zip(*found, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=tolerance, atol=tolerance)


def answers(gain: Gain, rows: int, size: int, dtype: torch.dtype, backend: Backend) -> list[Tensor]:
    generator = torch.Generator().manual_seed(rows)
    x, weight, slope = (
        torch.randn(*shape, generator=generator).to(dtype) for shape in ((rows, 2, size), (size,), (rows, 2, size))
    )
    leaves = [x.requires_grad_(), weight.requires_grad_()]
    out = rms_norm(*leaves, 1e-6, gain, backend=backend)
    return [out.detach(), *torch.autograd.grad(out, leaves, slope)]

"""The Triton paths of the batch-invariant operations: values of the reference, and bits that no neighbour changes."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from kernels.backend import Backend
from kernels.batch_invariant import log_softmax, matmul, rms_norm
from kernels.batch_invariant import triton as compiled

RIGHT = torch.randn(21, 40, generator=torch.Generator().manual_seed(0))
OPERATIONS: dict[str, Callable[[Tensor, Backend], Tensor]] = {
    "matmul": lambda x, backend: matmul(x, RIGHT, backend=backend),
    "rms_norm": lambda x, backend: rms_norm(x, RIGHT[0], 1e-6, backend=backend),
    "log_softmax": lambda x, backend: log_softmax(x, backend=backend),
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(compiled.TILES, 4, compiled.MatmulTiles(16, 16, 16, 4, 2))
    monkeypatch.setattr(compiled, "BAND", 2)
    monkeypatch.setattr(compiled, "BLOCK", 16)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("rows", [0, 1, 19, 50])
def test_values_and_gradients(name: str, rows: int) -> None:
    x = torch.randn(rows, 40, generator=torch.Generator().manual_seed(rows)).requires_grad_()
    mine, theirs = (OPERATIONS[name](x, backend) for backend in ("triton", "reference"))
    torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)
    slope = torch.linspace(-1, 1, mine.numel()).view(mine.shape)
    own, other = (torch.autograd.grad((found * slope).sum(), x)[0] for found in (mine, theirs))
    torch.testing.assert_close(own, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", OPERATIONS)
def test_bits(name: str) -> None:
    row = torch.randn(1, 40, generator=torch.Generator().manual_seed(7))
    expected = OPERATIONS[name](row, "triton")
    for size in (2, 17, 40):
        others = torch.randn(size, 40, generator=torch.Generator().manual_seed(size)) * 50
        others[size - 1] = row
        assert torch.equal(OPERATIONS[name](others, "triton")[size - 1], expected[0])

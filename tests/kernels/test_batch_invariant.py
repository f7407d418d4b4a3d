"""Batch-invariant operations: the same bits in any company, and the right values and gradients."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from kernels import batch_invariant
from kernels.batch_invariant import log_softmax, matmul, reference, rms_norm, softmax

DEPTH, COLUMNS = 96, 37
GENERATOR = torch.Generator().manual_seed(0)
RIGHT = torch.randn(COLUMNS, DEPTH, generator=GENERATOR)
SCALE = torch.rand(DEPTH, generator=GENERATOR)
OPERATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "matmul": lambda x: matmul(x, RIGHT.to(x.dtype)),
    "rms_norm": lambda x: rms_norm(x, SCALE.to(x.dtype), 1e-6),
    "log_softmax": log_softmax,
    "softmax": softmax,
}
PLAIN: dict[str, Callable[[Tensor], Tensor]] = {
    "matmul": lambda x: torch.einsum("mk,nk->mn", x, RIGHT.to(x.dtype)),
    "rms_norm": lambda x: torch.nn.functional.rms_norm(x, (DEPTH,), SCALE.to(x.dtype), 1e-6),
    "log_softmax": lambda x: x - torch.logsumexp(x, 1, keepdim=True),
    "softmax": lambda x: x.exp() / x.exp().sum(1, keepdim=True),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_row_is_the_same_bits_in_any_batch_and_place(name: str) -> None:
    row = torch.randn(1, DEPTH, generator=torch.Generator().manual_seed(1))
    expected = OPERATIONS[name](row)
    for size in (1, 2, 15, 16, 17, 50, 131):
        others = torch.randn(size, DEPTH, generator=torch.Generator().manual_seed(size)) * 100
        for place in {0, size // 2, size - 1}:
            others[place] = row
            assert torch.equal(OPERATIONS[name](others)[place], expected[0]), (size, place)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("rows", [0, 1, 19])
def test_values_and_gradients(name: str, rows: int) -> None:
    x = torch.randn(rows, DEPTH, generator=torch.Generator().manual_seed(2), dtype=torch.float64).requires_grad_()
    mine, theirs = OPERATIONS[name](x), PLAIN[name](x)
    torch.testing.assert_close(mine, theirs, rtol=1e-10, atol=1e-12)
    slope = torch.randn(mine.shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    own, other = (torch.autograd.grad((found * slope).sum(), x)[0] for found in (mine, theirs))
    torch.testing.assert_close(own, other, rtol=1e-9, atol=1e-12)


def test_gradients_of_the_weights() -> None:
    generator = torch.Generator().manual_seed(4)
    x, right = (torch.randn(5, 3, generator=generator, dtype=torch.float64).requires_grad_() for _ in range(2))
    scale = torch.rand(3, generator=generator, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(matmul, (x, right))
    assert torch.autograd.gradcheck(lambda a, b: rms_norm(a, b, 1e-3), (x, scale))
    assert torch.autograd.gradcheck(log_softmax, (x,))


def test_huge_values_and_minus_infinity() -> None:
    x = torch.tensor([[1e30, -torch.inf, 0.0], [-1e30, -1e30, -torch.inf]])
    torch.testing.assert_close(softmax(x), torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]))


def test_a_library_in_which_the_place_matters_gets_single_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "tile_rows", lambda *_: 1)
    x = torch.randn(5, DEPTH, generator=torch.Generator().manual_seed(5))
    assert torch.equal(matmul(x, RIGHT)[3:4], matmul(x[3:4], RIGHT))


def test_refusals() -> None:
    with pytest.raises(ValueError, match=r"must be \[M, K\] and \[N, K\]"):
        matmul(torch.zeros(2, 3), torch.zeros(3, 2))
    with pytest.raises(ValueError, match=r"must be \[M, K\] and \[K\]"):
        batch_invariant.rms_norm(torch.zeros(2, 3), torch.zeros(2), 1e-6)

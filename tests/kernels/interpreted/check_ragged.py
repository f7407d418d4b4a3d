"""The Triton paths of the ragged operations against the reference."""

import pytest
import torch

from kernels.ragged import group_statistics, repeats_at_end
from kernels.ragged import triton as compiled


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "BLOCK", 4)


@pytest.mark.parametrize("sizes", [[], [0], [1, 9, 0, 4, 23]])
def test_statistics(sizes: list[int]) -> None:
    starts = torch.tensor([0, *sizes]).cumsum(0)
    values = torch.randn(sum(sizes), generator=torch.Generator().manual_seed(0))
    mine = group_statistics(values, starts, sample=True, backend="triton")
    theirs = group_statistics(values, starts, sample=True, backend="reference")
    for own, other in zip(mine, theirs, strict=True):
        torch.testing.assert_close(own, other)


@pytest.mark.parametrize("period", [0, 1, 5])
@pytest.mark.parametrize("seed", range(6))
def test_repeats(period: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    sizes = torch.randint(0, 15, (6,), generator=generator)
    starts = torch.cat([torch.zeros(1, dtype=torch.int64), sizes.cumsum(0)])
    tokens = torch.randint(0, 2, (int(sizes.sum()),), generator=generator)
    mine = repeats_at_end(tokens, starts, period, backend="triton")
    assert mine.tolist() == repeats_at_end(tokens, starts, period, backend="reference").tolist()

"""Operations within the sequences of a packed micro-batch, against plain Python."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from tests.support.growth import NOT_QUADRATIC, growth
from trainer_core.methods.ragged import prefix_minimum, sequence_mean, sequence_sum

SEQUENCE = torch.tensor([7, 7, 7, 2, 9, 9])
VALUES = torch.tensor([1.0, -2.0, 4.0, 8.0, 3.0, 5.0], dtype=torch.float64)
MASK = torch.tensor([True, False, True, False, True, True])


def test_by_hand() -> None:
    assert sequence_sum(VALUES, SEQUENCE).tolist() == [3.0, 3.0, 3.0, 8.0, 8.0, 8.0]
    assert sequence_mean(VALUES, MASK, SEQUENCE).tolist() == [2.5, 2.5, 2.5, 0.0, 4.0, 4.0]
    inf = math.inf
    assert prefix_minimum(VALUES, SEQUENCE).tolist() == [inf, 1.0, -2.0, inf, inf, 3.0]


@pytest.mark.parametrize("seed", range(3))
def test_against_plain_python(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 12, (20,), generator=generator)
    ids = torch.randperm(40, generator=generator)[:20]
    sequence = torch.repeat_interleave(ids, lengths)
    values = torch.randn(len(sequence), generator=generator, dtype=torch.float64)
    mask = torch.rand(len(sequence), generator=generator) < 0.5
    sums, means, prefixes = (
        sequence_sum(values, sequence),
        sequence_mean(values, mask, sequence),
        prefix_minimum(values, sequence),
    )
    for t in range(len(sequence)):
        row = [s for s in range(len(sequence)) if sequence[s] == sequence[t]]
        counted = [float(values[s]) for s in row if mask[s]]
        assert sums[t].item() == pytest.approx(sum(float(values[s]) for s in row))
        assert means[t].item() == pytest.approx(sum(counted) / len(counted) if counted else 0.0)
        assert prefixes[t].item() == min((float(values[s]) for s in row if s < t), default=math.inf)


def test_gradients_stay_within_the_sequence() -> None:
    def values() -> Tensor:
        return VALUES.clone().requires_grad_()

    for function in (lambda v: sequence_sum(v, SEQUENCE), lambda v: sequence_mean(v, MASK, SEQUENCE)):
        assert torch.autograd.gradcheck(function, (values(),))
    first = values()
    (gradient,) = torch.autograd.grad(sequence_mean(first, MASK, SEQUENCE)[0], first)
    assert gradient.tolist() == [0.5, 0.0, 0.5, 0.0, 0.0, 0.0]


def test_values_outside_the_mask_may_be_anything() -> None:
    broken = VALUES.masked_fill(~MASK, math.nan)
    assert sequence_mean(broken, MASK, SEQUENCE).tolist() == sequence_mean(VALUES, MASK, SEQUENCE).tolist()


def test_nothing_is_accepted() -> None:
    empty = torch.zeros(0)
    for found in (
        sequence_sum(empty, empty.long()),
        sequence_mean(empty, empty.bool(), empty.long()),
        prefix_minimum(empty, empty.long()),
    ):
        assert found.shape == (0,)


def one_long_and_many_short(tokens: int) -> Tensor:
    long = tokens // 2
    return torch.cat([torch.zeros(long, dtype=torch.int64), torch.arange(1, long // 500).repeat_interleave(500)])


def test_time_and_memory_grow_with_the_tokens_alone() -> None:
    """A quadratic form (sequences × longest, or tokens × tokens) of this batch would need hundreds of gigabytes."""
    sequence = one_long_and_many_short(1_000_000)
    values = torch.ones(len(sequence))
    assert sequence_sum(values, sequence)[0].item() == 500_000
    assert sequence_mean(values, values.bool(), sequence)[-1].item() == 1.0
    assert prefix_minimum(values, sequence)[500_000].item() == math.inf


@pytest.mark.parametrize(
    "operation",
    [
        lambda sequence: sequence_sum(torch.ones(len(sequence)), sequence),
        lambda sequence: sequence_mean(torch.ones(len(sequence)), sequence > 0, sequence),
        lambda sequence: prefix_minimum(torch.ones(len(sequence)), sequence),
    ],
    ids=["sum", "mean", "prefix minimum"],
)
def test_time_is_linear_in_the_tokens(operation: Callable[[Tensor], Tensor]) -> None:
    assert growth(operation, one_long_and_many_short, 400_000) < NOT_QUADRATIC

"""Aggregation: by hand, with gradient, and the same however the batch is cut."""

import pytest
import torch
from torch import Tensor

from trainer_core.methods.aggregation import aggregate
from trainer_core.spec.aggregation import Aggregation, SequenceMean, TokenMean

SPECS: list[Aggregation] = [TokenMean(), SequenceMean()]
VALUES = torch.tensor([1.0, 2.0, 3.0, 10.0, 20.0, 7.0], dtype=torch.float64)
SEQUENCE = torch.tensor([0, 0, 0, 1, 1, 2])
MASK = torch.tensor([True, True, True, True, False, False])


def test_by_hand() -> None:
    # Counted: 1, 2, 3 of the first sequence and 10 of the second. The third has no counted token and does not count.
    assert aggregate(TokenMean(), VALUES, MASK, SEQUENCE).item() == pytest.approx(16 / 4)
    assert aggregate(SequenceMean(), VALUES, MASK, SEQUENCE).item() == pytest.approx((2 + 10) / 2)


def test_gradient_by_hand() -> None:
    for spec, expected in (
        (TokenMean(), [1 / 4] * 4 + [0.0, 0.0]),
        (SequenceMean(), [1 / 6] * 3 + [1 / 2, 0.0, 0.0]),
    ):
        values = VALUES.clone().requires_grad_()
        aggregate(spec, values, MASK, SEQUENCE).backward()
        torch.testing.assert_close(values.grad, torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("spec", SPECS)
def test_gradient_agrees_with_finite_differences(spec: Aggregation) -> None:
    values = VALUES.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda v: aggregate(spec, v, MASK, SEQUENCE), (values,))


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("cuts", [[5], [1, 2, 3, 4, 5], [2, 5], [1, 7]])
def test_microbatches_with_global_counts_sum_to_the_batch(spec: Aggregation, cuts: list[int]) -> None:
    generator = torch.Generator().manual_seed(0)
    lengths = [1, 30, 3, 8, 2, 11, 5, 1]
    sequence = torch.repeat_interleave(torch.arange(8), torch.tensor(lengths))
    mask = torch.rand(len(sequence), generator=generator) < 0.6
    weights = torch.randn(len(sequence), generator=generator, dtype=torch.float64)

    def gradient(bounds: list[int], counts: dict[str, int]) -> tuple[Tensor, Tensor]:
        values = weights.clone().requires_grad_()
        total = torch.zeros((), dtype=torch.float64)
        for low, high in zip([0, *bounds], [*bounds, 8], strict=True):
            here = (sequence >= low) & (sequence < high)
            total = total + aggregate(spec, values[here], mask[here], sequence[here], **counts)
        total.backward()
        assert values.grad is not None
        return total.detach(), values.grad

    counts = {"num_sequences": len(sequence[mask].unique()), "num_tokens": int(mask.sum())}
    for whole, parts in zip(gradient([], {}), gradient(cuts, counts), strict=True):
        torch.testing.assert_close(parts, whole, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("spec", SPECS)
def test_nothing_counted_is_zero_with_zero_gradient(spec: Aggregation) -> None:
    values = VALUES.clone().requires_grad_()
    total = aggregate(spec, values, torch.zeros(6, dtype=torch.bool), SEQUENCE)
    total.backward()
    assert total.item() == 0.0
    assert values.grad is not None and values.grad.abs().max() == 0.0
    empty = torch.zeros(0, dtype=torch.float64)
    assert aggregate(spec, empty, empty.bool(), empty.long()).item() == 0.0


@pytest.mark.parametrize("spec", SPECS)
def test_values_outside_the_mask_may_be_anything(spec: Aggregation) -> None:
    broken = VALUES.masked_fill(~MASK, float("nan"))
    assert aggregate(spec, broken, MASK, SEQUENCE) == aggregate(spec, VALUES, MASK, SEQUENCE)

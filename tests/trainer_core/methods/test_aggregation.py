"""Aggregation: by hand, with gradient, and the same however the batch is cut."""

from collections import Counter

import pytest
import torch
from torch import Tensor

from trainer_core.methods.aggregation import Denominators, aggregate
from trainer_core.spec.methods.aggregation import (
    Aggregation,
    ConstantNormaliser,
    PromptMean,
    SampleAndTokenMean,
    SequenceMean,
    TokenMean,
)

SPECS: list[Aggregation] = [
    TokenMean(),
    SequenceMean(),
    PromptMean(),
    ConstantNormaliser(divisor=50),
    SampleAndTokenMean(token_share=0.3),
]
VALUES = torch.tensor([1.0, 2.0, 3.0, 10.0, 20.0, 7.0, 4.0], dtype=torch.float64)
SEQUENCE = torch.tensor([0, 0, 0, 1, 1, 2, 3])
PROMPT = torch.tensor([-9, -9, -9, -9, -9, 5, 5])
MASK = torch.tensor([True, True, True, True, False, False, True])


def counts(mask: Tensor, sequence: Tensor, prompt: Tensor) -> Denominators:
    return Denominators(len(sequence[mask].unique()), int(mask.sum()), Counter(prompt[mask].tolist()))


WHOLE = counts(MASK, SEQUENCE, PROMPT)


def test_by_hand() -> None:
    # Counted: 1, 2, 3 and 10 of two samples of one prompt, 4 of another prompt. The third sample does not count.
    assert (WHOLE.sequences, WHOLE.tokens) == (3, 5)
    expected = [20 / 5, (2 + 10 + 4) / 3, (16 / 4 + 4) / 2, 20 / 3 / 50, 0.3 * 4 + 0.7 * 16 / 3]
    for spec, value in zip(SPECS, expected, strict=True):
        assert aggregate(spec, VALUES, MASK, SEQUENCE, PROMPT, WHOLE).item() == pytest.approx(value, rel=1e-14), spec


def test_gradient_by_hand() -> None:
    token, sequence = [1 / 5] * 4 + [0.0, 0.0, 1 / 5], [1 / 9] * 3 + [1 / 3, 0.0, 0.0, 1 / 3]
    for spec, expected in zip(
        SPECS,
        [
            token,
            sequence,
            [1 / 8] * 4 + [0.0, 0.0, 1 / 2],
            [1 / 150] * 4 + [0.0, 0.0, 1 / 150],
            [0.3 * t + 0.7 * s for t, s in zip(token, sequence, strict=True)],
        ],
        strict=True,
    ):
        values = VALUES.clone().requires_grad_()
        aggregate(spec, values, MASK, SEQUENCE, PROMPT, WHOLE).backward()
        torch.testing.assert_close(values.grad, torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("spec", SPECS)
def test_gradient_agrees_with_finite_differences(spec: Aggregation) -> None:
    values = VALUES.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda v: aggregate(spec, v, MASK, SEQUENCE, PROMPT, WHOLE), (values,))


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("cuts", [[5], [1, 2, 3, 4, 5], [2, 5], [1, 7]])
def test_the_shares_of_microbatches_sum_to_the_batch(spec: Aggregation, cuts: list[int]) -> None:
    generator = torch.Generator().manual_seed(0)
    lengths = [1, 30, 3, 8, 2, 11, 5, 1]
    sequence = torch.repeat_interleave(torch.arange(8), torch.tensor(lengths))
    prompt = (sequence % 3) * 7 - 5  # the samples of a prompt lie in several micro-batches
    mask = torch.rand(len(sequence), generator=generator) < 0.6
    weights = torch.randn(len(sequence), generator=generator, dtype=torch.float64)
    whole = counts(mask, sequence, prompt)

    def gradient(bounds: list[int]) -> tuple[Tensor, Tensor]:
        values = weights.clone().requires_grad_()
        total = torch.zeros((), dtype=torch.float64)
        for low, high in zip([0, *bounds], [*bounds, 8], strict=True):
            here = (sequence >= low) & (sequence < high)
            total = total + aggregate(spec, values[here], mask[here], sequence[here], prompt[here], whole)
        total.backward()
        assert values.grad is not None
        return total.detach(), values.grad

    for all_at_once, parts in zip(gradient([]), gradient(cuts), strict=True):
        torch.testing.assert_close(parts, all_at_once, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("spec", SPECS)
def test_nothing_counted_is_zero_with_zero_gradient(spec: Aggregation) -> None:
    values = VALUES.clone().requires_grad_()
    nobody, nothing = torch.zeros(7, dtype=torch.bool), Denominators(0, 0, {})
    for whole in (WHOLE, nothing):
        total = aggregate(spec, values, nobody, SEQUENCE, PROMPT, whole)
        (gradient,) = torch.autograd.grad(total, values)
        assert total.item() == 0.0 and gradient.abs().max() == 0.0
    empty = torch.zeros(0, dtype=torch.float64)
    assert aggregate(spec, empty, empty.bool(), empty.long(), empty.long(), WHOLE).item() == 0.0


@pytest.mark.parametrize("spec", SPECS)
def test_values_outside_the_mask_may_be_anything(spec: Aggregation) -> None:
    broken = VALUES.masked_fill(~MASK, float("nan")).requires_grad_()
    found = aggregate(spec, broken, MASK, SEQUENCE, PROMPT, WHOLE)
    assert found.item() == aggregate(spec, VALUES, MASK, SEQUENCE, PROMPT, WHOLE).item()
    (gradient,) = torch.autograd.grad(found, broken)
    assert (gradient[~MASK] == 0.0).all()


def test_the_token_share_goes_from_one_mean_to_the_other() -> None:
    for share, like in ((0.0, SequenceMean()), (1.0, TokenMean())):
        found = aggregate(SampleAndTokenMean(token_share=share), VALUES, MASK, SEQUENCE, PROMPT, WHOLE)
        assert found.item() == aggregate(like, VALUES, MASK, SEQUENCE, PROMPT, WHOLE).item()

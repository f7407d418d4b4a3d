"""Masked sums and means: whatever stands outside the mask is neither counted nor felt."""

import pytest
import torch

from trainer_core.methods.masked import masked_mean, masked_sum

MASK = torch.tensor([True, False, True, False])


@pytest.mark.parametrize("broken", [float("nan"), float("inf"), -float("inf"), 7.0])
def test_by_hand_with_gradient(broken: float) -> None:
    for function, value, slope in ((masked_sum, 5.0, 1.0), (masked_mean, 2.5, 0.5)):
        values = torch.tensor([1.0, broken, 4.0, broken], dtype=torch.float64, requires_grad=True)
        found = function(values, MASK)
        found.backward()
        assert found.item() == value
        assert values.grad is not None and values.grad.tolist() == [slope, 0.0, slope, 0.0]


@pytest.mark.parametrize("values", [torch.tensor([1.0, float("nan")]), torch.zeros(0)])
def test_an_empty_mask_is_zero(values: torch.Tensor) -> None:
    nobody = torch.zeros(len(values), dtype=torch.bool)
    assert masked_sum(values, nobody) == 0.0
    assert masked_mean(values, nobody) == 0.0

"""Entropy against its definition."""

import math

import pytest
import torch

from trainer_core.methods.entropy import entropy


def test_agrees_with_the_definition() -> None:
    logits = 3 * torch.randn(20, 11, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    probabilities = logits.exp() / logits.exp().sum(dim=1, keepdim=True)
    torch.testing.assert_close(entropy(logits), -(probabilities * probabilities.log()).sum(dim=1))


def test_uniform_and_certain() -> None:
    assert entropy(torch.zeros(1, 8, dtype=torch.float64)).item() == pytest.approx(math.log(8), abs=1e-15)
    assert entropy(torch.tensor([[0.0, -1e4]], dtype=torch.float64)).item() == 0.0


def test_ruled_out_tokens_have_probability_zero() -> None:
    logits = torch.tensor([[0.0, 0.0, -float("inf")]], dtype=torch.float64, requires_grad=True)
    value = entropy(logits)
    value.sum().backward()
    assert value.item() == pytest.approx(math.log(2), abs=1e-15)
    assert logits.grad is not None and torch.isfinite(logits.grad).all()


def test_large_logits_do_not_overflow() -> None:
    assert entropy(torch.tensor([[3e4, 3e4]])).item() == pytest.approx(math.log(2))


def test_gradient_agrees_with_finite_differences() -> None:
    logits = torch.randn(4, 5, generator=torch.Generator().manual_seed(1), dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(entropy, (logits,))

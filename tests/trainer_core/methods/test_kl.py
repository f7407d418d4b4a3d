"""KL estimators: formulas and gradients in float64, and what they estimate on a whole distribution."""

import math

import pytest
import torch
from torch import Tensor

from trainer_core.methods import kl


def vector(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def test_by_hand() -> None:
    logprobs, reference = vector(-1.0), vector(-1.5)  # d = −0.5
    assert kl.penalty("k1", logprobs, reference).item() == 0.5
    assert kl.penalty("k2", logprobs, reference).item() == 0.125
    assert kl.penalty("k3", logprobs, reference).item() == pytest.approx(math.exp(-0.5) - 1 + 0.5, abs=1e-15)
    assert kl.penalty("absolute", logprobs, reference).item() == 0.5


def test_k3_is_never_negative_and_not_symmetric() -> None:
    difference = torch.linspace(-3, 3, 101, dtype=torch.float64)
    values = kl.penalty("k3", torch.zeros(101, dtype=torch.float64), difference)
    assert (values >= 0).all()
    # d = log π_ref − log π_θ: a token that the reference likes better costs more than one it likes less.
    assert values[-1] > values[0]


def test_k3_keeps_its_digits_near_zero() -> None:
    difference = torch.tensor([1e-4])
    assert kl.penalty("k3", torch.zeros(1), difference).item() == pytest.approx(0.5e-8, rel=1e-3)


@pytest.mark.parametrize("estimator", ["k1", "k2", "k3", "absolute"])
def test_gradient_agrees_with_finite_differences(estimator: str) -> None:
    logprobs = torch.randn(30, generator=torch.Generator().manual_seed(0), dtype=torch.float64).requires_grad_()
    reference = torch.randn(30, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda current: kl.penalty(estimator, current, reference), (logprobs,))


def test_gradient_by_hand() -> None:
    for estimator, expected in (("k1", 1.0), ("k2", 0.5), ("k3", 1 - math.exp(-0.5)), ("absolute", 1.0)):
        logprobs = vector(-1.0).requires_grad_()
        kl.penalty(estimator, logprobs, vector(-1.5)).sum().backward()
        assert logprobs.grad is not None and logprobs.grad.item() == pytest.approx(expected, abs=1e-15)


def expected_gradients(estimator: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """E over π_θ of the estimator's gradient; then the gradients of both divergences; then E of its value − KL."""
    theta = torch.randn(6, generator=torch.Generator().manual_seed(2), dtype=torch.float64).requires_grad_()
    reference = torch.randn(6, generator=torch.Generator().manual_seed(3), dtype=torch.float64).log_softmax(0)
    logprobs = theta.log_softmax(0)
    values = kl.penalty(estimator, logprobs, reference)
    (estimated,) = torch.autograd.grad((logprobs.detach().exp() * values).sum(), theta, retain_graph=True)
    reverse_kl = (logprobs.exp() * (logprobs - reference)).sum()
    (reverse,) = torch.autograd.grad(reverse_kl, theta, retain_graph=True)
    (forward,) = torch.autograd.grad((reference.exp() * (reference - logprobs)).sum(), theta)
    bias = (logprobs.detach().exp() * values.detach()).sum() - reverse_kl.detach()
    return estimated, reverse, forward, bias


def test_k1_is_unbiased_but_its_gradient_averages_out() -> None:
    estimated, _, _, bias = expected_gradients("k1")
    assert bias.abs() < 1e-14
    assert estimated.abs().max() < 1e-14


def test_k2_has_the_gradient_of_the_divergence() -> None:
    estimated, reverse, _, _ = expected_gradients("k2")
    torch.testing.assert_close(estimated, reverse)


def test_k3_is_unbiased_and_has_the_gradient_of_the_forward_divergence() -> None:
    estimated, reverse, forward, bias = expected_gradients("k3")
    assert bias.abs() < 1e-14
    torch.testing.assert_close(estimated, forward)
    assert (estimated - reverse).abs().max() > 1e-3


def test_as_part_of_the_reward_it_has_no_gradient() -> None:
    logprobs = vector(-1.0).requires_grad_()
    assert not kl.penalty("k3", logprobs.detach(), vector(-1.5)).requires_grad


def test_k3_pulls_on_tokens_that_the_reference_finds_all_but_impossible() -> None:
    for difference in (-15.0, -25.0, -300.0):
        logprobs = vector(0.0).requires_grad_()
        value = kl.penalty("k3", logprobs, vector(difference))
        value.sum().backward()
        assert value.item() == pytest.approx(math.exp(difference) - 1 - difference, rel=1e-15)
        assert logprobs.grad is not None and logprobs.grad.item() == pytest.approx(1 - math.exp(difference), rel=1e-15)


@pytest.mark.parametrize("difference", [1000.0, -1000.0])
def test_k3_stays_finite_for_a_broken_token(difference: float) -> None:
    logprobs = torch.tensor([0.0], requires_grad=True)
    value = kl.penalty("k3", logprobs, torch.tensor([difference]))
    value.sum().backward()
    assert torch.isfinite(value).all() and logprobs.grad is not None and torch.isfinite(logprobs.grad).all()


def test_the_absolute_difference_pulls_equally_at_every_distance_and_rests_at_equality() -> None:
    logprobs = vector(-1.0, -1.0, -1.0, -1.0).requires_grad_()
    kl.penalty("absolute", logprobs, vector(-9.0, -1.001, -1.0, 0.0)).sum().backward()
    assert logprobs.grad is not None and logprobs.grad.tolist() == [1.0, 1.0, 0.0, -1.0]

"""PPO's clip and REINFORCE: values and slopes by hand, and finite differences."""

import math

import pytest
import torch
from torch import Tensor

from trainer_core.methods import losses
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.loss import Loss, PPOClipLoss, ReinforceLoss

BAND = PPOClipLoss(ratio_min=0.8, ratio_max=1.28)
DUAL = PPOClipLoss(ratio_min=0.8, ratio_max=1.28, ratio_dual=3.0)


def vector(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def view(logprobs: Tensor, old: Tensor, advantages: Tensor, mask: Tensor) -> TokenView:
    """Tokens of one sequence that the learner itself has sampled."""
    return TokenView(logprobs, old, old, advantages, mask, torch.zeros(len(old), dtype=torch.int64))


def evaluate(spec: Loss, ratios: Tensor, advantages: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor, dict]:
    """Loss of each token, d loss / d log π of each, and the metrics, for given ratios π / π_old."""
    old = torch.full_like(ratios, -2.0)
    logprobs = (old + ratios.log()).requires_grad_()
    mask = torch.ones_like(ratios, dtype=torch.bool) if mask is None else mask
    loss, metrics = losses.token_loss(spec, view(logprobs, old, advantages, mask))
    (gradient,) = torch.autograd.grad(loss[mask].sum(), logprobs)
    return loss.detach(), gradient, metrics


@pytest.mark.parametrize(
    ("ratio", "advantage", "loss", "gradient"),
    [
        (1.0, 2.0, -2.0, -2.0),
        (1.2, 2.0, -2.4, -2.4),
        (1.5, 2.0, -2.56, 0.0),  # above the band with A > 0: no more push up
        (0.5, 2.0, -1.0, -1.0),  # below the band with A > 0: pushed back up
        (0.5, -2.0, 1.6, 0.0),  # below the band with A < 0: no more push down
        (1.5, -2.0, 3.0, 3.0),  # above the band with A < 0: pushed back down
        (0.9, -2.0, 1.8, 1.8),
        (5.0, -2.0, 10.0, 10.0),
        (5.0, 0.0, 0.0, 0.0),
    ],
)
def test_ppo_clip_by_hand(ratio: float, advantage: float, loss: float, gradient: float) -> None:
    found, slope, _ = evaluate(BAND, vector(ratio), vector(advantage))
    torch.testing.assert_close(found, vector(loss))
    torch.testing.assert_close(slope, vector(gradient))


@pytest.mark.parametrize(("ratio", "loss", "gradient"), [(2.5, 5.0, 5.0), (3.5, 6.0, 0.0), (0.5, 1.6, 0.0)])
def test_dual_clip_caps_the_loss_of_negative_advantages(ratio: float, loss: float, gradient: float) -> None:
    found, slope, metrics = evaluate(DUAL, vector(ratio), vector(-2.0))
    torch.testing.assert_close(found, vector(loss))
    torch.testing.assert_close(slope, vector(gradient))
    assert metrics["actor/pg_clipfrac_lower"] == float(ratio > 3.0)


def test_dual_clip_leaves_positive_advantages_alone() -> None:
    ratios, advantages = vector(0.1, 1.0, 5.0), vector(1.0, 1.0, 1.0)
    torch.testing.assert_close(evaluate(DUAL, ratios, advantages)[0], evaluate(BAND, ratios, advantages)[0])


def test_bounds_are_the_band_itself() -> None:
    # 0.28 above 1 is written 1.28: nothing is added to it.
    found, _, _ = evaluate(PPOClipLoss(ratio_min=0.0, ratio_max=1.28), vector(9.0), vector(1.0))
    assert found.item() == pytest.approx(-1.28, abs=1e-12)


def test_clipped_shares_tell_the_edges_apart() -> None:
    ratios = vector(1.5, 1.5, 0.5, 0.5, 1.5, 9.0)
    advantages = vector(1.0, -1.0, 1.0, -1.0, 1.0, 1.0)
    mask = torch.tensor([True] * 5 + [False])
    _, _, metrics = evaluate(BAND, ratios, advantages, mask)
    assert metrics["actor/pg_clipfrac"] == pytest.approx(3 / 5)
    assert metrics["actor/clip_high_share"] == pytest.approx(2 / 5)
    assert metrics["actor/clip_low_share"] == pytest.approx(1 / 5)
    assert "actor/pg_clipfrac_lower" not in metrics
    expected = -(3 * math.log(1.5) + 2 * math.log(0.5)) / 5
    assert metrics["actor/ppo_kl"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("spec", [BAND, DUAL, ReinforceLoss()])
def test_gradient_agrees_with_finite_differences(spec: Loss) -> None:
    generator = torch.Generator().manual_seed(0)
    old = torch.randn(40, generator=generator, dtype=torch.float64)
    logprobs = (old + 0.7 * torch.randn(40, generator=generator, dtype=torch.float64)).requires_grad_()
    advantages = torch.randn(40, generator=generator, dtype=torch.float64)
    mask = torch.rand(40, generator=generator) < 0.8

    def loss(current: Tensor) -> Tensor:
        return losses.token_loss(spec, view(current, old, advantages, mask))[0].masked_fill(~mask, 0.0)

    assert torch.autograd.gradcheck(loss, (logprobs,))


def test_reinforce_by_hand() -> None:
    loss, gradient, metrics = evaluate(ReinforceLoss(), vector(2.0), vector(3.0))
    assert loss.item() == pytest.approx(-3.0 * (-2.0 + math.log(2.0)))
    assert gradient.item() == -3.0
    assert metrics["actor/ppo_kl"] == pytest.approx(-math.log(2.0))


def test_a_huge_ratio_does_not_overflow() -> None:
    for dtype in (torch.float32, torch.float64):
        logprobs = torch.tensor([0.0], dtype=dtype, requires_grad=True)
        old = torch.tensor([-1000.0], dtype=dtype)
        loss, _ = losses.token_loss(BAND, view(logprobs, old, torch.tensor([1.0], dtype=dtype), torch.tensor([True])))
        loss.sum().backward()
        assert loss.item() == pytest.approx(-1.28)
        assert logprobs.grad is not None and logprobs.grad.item() == 0.0

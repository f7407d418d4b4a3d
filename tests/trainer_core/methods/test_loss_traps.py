"""Traps that other frameworks' losses fell into, each under the name of the trap."""

import math
from typing import Any

import pytest
import torch
from pydantic import ValidationError
from torch import Tensor

from tests.trainer_core.specs import spec as run_spec
from trainer_core.methods import losses
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.loss import CISPOLoss, DecoupledPPOLoss, DPPOLoss, GSPOLoss, Loss, PPOClipLoss


def slopes(spec: Loss, log_ratios: list[float], advantage: float, log_pi: float = -2.0) -> list[float]:
    """d Σ loss / d log π of the tokens of one sequence that the learner itself has sampled."""
    logprobs = torch.full((len(log_ratios),), log_pi, dtype=torch.float64, requires_grad=True)
    old = logprobs.detach() - torch.tensor(log_ratios, dtype=torch.float64)
    mask, sequence = torch.ones(len(log_ratios), dtype=torch.bool), torch.zeros(len(log_ratios), dtype=torch.int64)
    view = TokenView(logprobs, old, old, torch.full_like(old, advantage), mask, sequence)
    found: Tensor = torch.autograd.grad(losses.token_loss(spec, view)[0].sum(), logprobs)[0]
    return found.tolist()


def test_epsilon_high_as_an_absolute_clamp() -> None:
    """TRL's CISPO clamps at epsilon_high itself: 0.28 there means a weight of at most 0.28, on policy too."""
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        CISPOLoss(ratio_max=0.28)
    assert slopes(CISPOLoss(ratio_max=1.28), [0.0], 1.0) == [-1.0]
    assert slopes(CISPOLoss(ratio_max=1.28), [math.log(9.0)], 1.0) == [pytest.approx(-1.28)]


@pytest.mark.parametrize("loss", ["ppo_clip", "cispo", "gspo", "decoupled_ppo", "minpro", "dppo", "sequence_mask"])
def test_one_knob_with_three_meanings(loss: str) -> None:
    """1 + ε_high, the bound itself, or an upper bound alone: here every bound is the band, and an ε is refused."""
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        run_spec(loss={"type": loss, "ratio_max": 0.2}, corrections=[])


def test_cispo_shipped_with_ppo_defaults() -> None:
    """SkyRL's CISPO first shipped with PPO's 0.2, which caps every weight at 1.2; M1 has no lower bound at all."""
    spec = CISPOLoss()
    assert spec.ratio_min == 0.0 and spec.ratio_max >= 4.0
    assert slopes(spec, [math.log(4.0)], 1.0) == [pytest.approx(-4.0)]
    assert slopes(spec, [math.log(0.01)], 1.0) == [pytest.approx(-0.01)]


def test_the_ratio_cap_of_dppo_is_reachable() -> None:
    """In verl the cap of 20 is overwritten by PPO's dual clip of 3 before it is read."""
    assert DPPOLoss().ratio_max == 20.0
    for ratio, weight in ((3.5, 3.5), (19.0, 19.0), (25.0, 20.0)):
        assert slopes(DPPOLoss(), [math.log(ratio)], 1.0, math.log(1e-3)) == [pytest.approx(-weight)]


def test_binary_kl_is_accepted() -> None:
    """AReaL's advertised binary KL is refused by its own parser."""
    assert run_spec(loss={"type": "dppo", "divergence": "kl"}, corrections=[]).loss == DPPOLoss(divergence="kl")


def test_the_log_clamp_of_gspo() -> None:
    """verl clamps the sequence's log ratio at 10; a bound on single tokens or their sum would bind at ordinary lengths.

    A long sequence whose log ratios sum to far beyond any clamp, with a mean near 0, is unhurt.
    """
    spec = GSPOLoss(ratio_min=0.5, ratio_max=1.5)
    assert slopes(spec, [0.1] * 1000, 1.0) == [pytest.approx(-math.exp(0.1))] * 1000
    # One broken token moves the mean, and is not cut to 10 or 20 before it is averaged.
    assert slopes(spec, [-48.0, 0.0], -1.0) == [0.0, 0.0]
    assert slopes(spec, [30.0, 0.0], -1.0) == [pytest.approx(math.exp(15.0))] * 2


def test_masked_tokens_go_on_counting() -> None:
    """Were they taken out of the average too, the rest would weigh the more the more is masked (AReaL keeps them)."""
    mask = torch.ones(2, dtype=torch.bool)
    zeros = torch.zeros(2, dtype=torch.float64)
    behaviour = torch.tensor([0.0, -math.log(9.0)], dtype=torch.float64)
    view = TokenView(zeros.clone().requires_grad_(), zeros, behaviour, zeros + 1, mask, mask.long())
    values, _ = losses.token_loss(DecoupledPPOLoss(weight_max=5.0), view)
    assert values.tolist() == [-1.0, 0.0] and view.mask.tolist() == [True, True]


def test_the_dual_clip_is_off_unless_asked_for() -> None:
    """verl's PPO caps negative advantages at 3 without being told."""
    assert PPOClipLoss().ratio_dual is None
    assert slopes(PPOClipLoss(), [math.log(50.0)], -1.0) == [pytest.approx(50.0)]


@pytest.mark.parametrize("part", [{"ratio_min": 1.1}, {"ratio_min": -0.2}, {"ratio_max": 0.9}])
@pytest.mark.parametrize("loss", ["ppo_clip", "cispo", "gspo", "decoupled_ppo", "sequence_mask"])
def test_a_band_that_leaves_out_one_is_refused(loss: str, part: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        run_spec(loss={"type": loss, **part}, corrections=[])

"""Policy losses in one pass, against the papers' formulas written out token by token, and sums by hand."""

import math

import pytest
import torch
from torch import Tensor

from kernels.policy_loss import Method, policy_loss, reference
from tests.trainer_core.methods.loss_formulas import written_out
from trainer_core.spec.methods.loss import CISPOLoss, PPOClipLoss

BAND = {"ratio_min": 0.8, "ratio_max": 1.25}


def inputs(tokens: int = 41) -> tuple[list[Tensor], Tensor]:
    generator = torch.Generator().manual_seed(tokens)
    noise = torch.randn(4, tokens, generator=generator, dtype=torch.float64)
    current = -noise[0].abs()
    old = current + 0.3 * noise[1]
    return [current, old, old + 0.2 * noise[2], noise[3]], torch.rand(tokens, generator=generator) < 0.8


@pytest.mark.parametrize("block", [7, 1 << 16])
@pytest.mark.parametrize("method", ["ppo_clip", "cispo"])
def test_losses_and_gradients(monkeypatch: pytest.MonkeyPatch, method: Method, block: int) -> None:
    monkeypatch.setattr(reference, "BLOCK", block)
    (current, *rest), mask = inputs()
    current.requires_grad_()
    loss, _ = policy_loss(current, *rest, mask, method=method, **BAND)
    spec = PPOClipLoss(**BAND) if method == "ppo_clip" else CISPOLoss(**BAND)
    expected = torch.zeros(41, dtype=torch.float64)
    for place, one in written_out(spec, current, *rest, mask, torch.zeros(41, dtype=torch.int64)):
        expected[place] = one
    slope = torch.linspace(-1, 2, 41, dtype=torch.float64)
    torch.testing.assert_close(loss, expected, rtol=1e-12, atol=1e-14)
    mine, theirs = (torch.autograd.grad((found * slope).sum(), current)[0] for found in (loss, expected))
    torch.testing.assert_close(mine, theirs, rtol=1e-12, atol=1e-14)


def test_gradcheck_of_the_clipped_surrogate() -> None:
    (current, *rest), mask = inputs(9)
    current.requires_grad_()
    assert torch.autograd.gradcheck(
        lambda values: policy_loss(values, *rest, mask, method="ppo_clip", **BAND)[0], [current]
    )


@pytest.mark.parametrize("block", [7, 1 << 16])
def test_metrics(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(reference, "BLOCK", block)
    (current, old, behaviour, advantages), mask = inputs()
    _, metrics = policy_loss(current, old, behaviour, advantages, mask, method="ppo_clip", **BAND)
    pairs = zip(current[mask].tolist(), old[mask].tolist(), strict=True)
    ratios = [math.exp(a - b) for a, b in pairs]
    signs, count = advantages[mask].tolist(), len(ratios)
    weights = (old - behaviour)[mask].exp().tolist()
    expected = {
        "ratio_mean": sum(ratios) / count,
        "ratio_square": sum(r * r for r in ratios) / count,
        "ratio_min": min(ratios),
        "ratio_max": max(ratios),
        "clip_low": sum(r < 0.8 and a < 0 for r, a in zip(ratios, signs, strict=True)) / count,
        "clip_high": sum(r > 1.25 and a > 0 for r, a in zip(ratios, signs, strict=True)) / count,
        "k1": -sum(map(math.log, ratios)) / count,
        "k3": sum(r - 1 - math.log(r) for r in ratios) / count,
        "ess": sum(weights) ** 2 / count / sum(w * w for w in weights),
    }
    assert {name: value.item() for name, value in metrics.items()} == pytest.approx(expected, rel=1e-12)


def test_the_edges_of_cispo_bind_for_every_sign_of_the_advantage_but_none() -> None:
    (current, old, behaviour, advantages), mask = inputs()
    advantages[::3] = 0.0
    _, metrics = policy_loss(current, old, behaviour, advantages, mask, method="cispo", **BAND)
    ratios = torch.where(advantages == 0, 1.0, (current - old).exp())[mask].tolist()
    assert metrics["clip_low"].item() == pytest.approx(sum(r < 0.8 for r in ratios) / len(ratios), rel=1e-12)
    assert metrics["clip_high"].item() == pytest.approx(sum(r > 1.25 for r in ratios) / len(ratios), rel=1e-12)


def test_broken_tokens_outside_the_mask_do_not_matter_and_huge_ratios_stay_finite() -> None:
    (current, old, behaviour, advantages), mask = inputs()
    for values in (current, old, behaviour, advantages):
        values[~mask] = math.nan
    current[mask.nonzero()[0]] = old[mask.nonzero()[0]] + 500.0
    current.requires_grad_()
    loss, metrics = policy_loss(current, old, behaviour, advantages, mask, method="ppo_clip", **BAND)
    loss.sum().backward()
    assert all(bool(values.isfinite().all()) for values in (loss, current.grad, *metrics.values()))
    assert bool((loss[~mask] == 0).all()) and bool((current.grad[~mask] == 0).all())


@pytest.mark.parametrize("tokens", [0, 3])
def test_an_empty_mask_is_all_zeros(tokens: int) -> None:
    given, mask = inputs(tokens)
    loss, metrics = policy_loss(*given, torch.zeros_like(mask), method="cispo", **BAND)
    assert loss.shape == (tokens,) and not bool(loss.any())
    assert {value.item() for value in metrics.values()} == {0.0}


def test_an_empty_band_is_refused() -> None:
    given, mask = inputs()
    with pytest.raises(ValueError, match=r"band 1.2 … 0.8 is empty"):
        policy_loss(*given, mask, method="cispo", ratio_min=1.2, ratio_max=0.8)

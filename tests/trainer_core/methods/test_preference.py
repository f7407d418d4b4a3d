"""Preference losses: values against the papers' formulas written with plain numbers, gradients, extremes."""

import math
from typing import Any

import pytest
import torch
from pydantic import TypeAdapter, ValidationError
from torch import Tensor

from trainer_core.methods.losses.preference import PairView, log_odds, preference_loss
from trainer_core.spec.objective.preference import PreferenceLoss

VARIANTS: list[dict[str, Any]] = [
    {"type": "dpo"},
    {"type": "dpo", "beta": 0.7, "label_smoothing": 0.3},
    {"type": "ipo", "beta": 0.4},
    {"type": "simpo"},
    {"type": "simpo", "beta": 3.0, "margin": 0.0},
    {"type": "orpo", "weight": 0.6},
]
SPECS: list[Any] = [TypeAdapter(PreferenceLoss).validate_python(variant) for variant in VARIANTS]


def ids(spec: Any) -> str:
    return "-".join(str(value) for value in spec.model_dump().values())


every_loss = pytest.mark.parametrize("spec", SPECS, ids=ids)


def pairs(count: int = 7) -> tuple[Tensor, Tensor, Tensor]:
    """log π_θ, numbers of tokens, log π_ref, [P, 2] each in float64."""
    generator = torch.Generator().manual_seed(3)
    tokens = torch.randint(1, 30, (count, 2), generator=generator).double()
    logprobs, reference = (
        -tokens * (0.2 + 2.0 * torch.rand((count, 2), generator=generator, dtype=torch.float64)) for _ in range(2)
    )
    return logprobs.requires_grad_(), tokens, reference


def sigma(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


def by_hand(spec: Any, logprobs: list[float], tokens: list[float], reference: list[float]) -> tuple[float, float]:
    """Loss and margin of one pair from probabilities rather than their logarithms."""
    (better, worse), (first, second), (was_better, was_worse) = logprobs, tokens, reference
    if spec.type == "dpo":
        # The odds that the first is the better one (Bradley and Terry).
        odds = (math.exp(better - was_better) / math.exp(worse - was_worse)) ** spec.beta
        right, wrong = odds / (1.0 + odds), 1.0 / (1.0 + odds)
        smoothing = spec.label_smoothing
        return -(1 - smoothing) * math.log(right) - smoothing * math.log(wrong), math.log(odds)
    if spec.type == "ipo":
        h = (better - was_better) / first - (worse - was_worse) / second
        return h * h - h / spec.beta + 1.0 / (4.0 * spec.beta**2), spec.beta * h
    chance, other = math.exp(better / first), math.exp(worse / second)  # geometric means over the tokens
    if spec.type == "simpo":
        margin = spec.beta * math.log(chance / other)
        return -math.log(sigma(margin - spec.margin)), margin
    ratio = (chance / (1.0 - chance)) / (other / (1.0 - other))
    return -math.log(chance) - spec.weight * math.log(sigma(math.log(ratio))), spec.weight * math.log(ratio)


@every_loss
def test_values_are_those_of_the_papers(spec: Any) -> None:
    logprobs, tokens, reference = pairs()
    losses, margins = preference_loss(spec, PairView(logprobs, tokens, reference))
    for row, (loss, margin) in enumerate(zip(losses.tolist(), margins.tolist(), strict=True)):
        columns = [column[row].tolist() for column in (logprobs.detach(), tokens, reference)]
        assert (loss, margin) == pytest.approx(by_hand(spec, *columns), rel=1e-10)


@every_loss
def test_gradients(spec: Any) -> None:
    logprobs, tokens, reference = pairs()

    def look(values: Tensor) -> tuple[Tensor, ...]:
        return preference_loss(spec, PairView(values, tokens, reference))

    assert torch.autograd.gradcheck(look, (logprobs,), eps=1e-6, atol=1e-6)


@every_loss
def test_likelier_better_answers_cost_less(spec: Any) -> None:
    """As long as the margin is below its target; only IPO also pulls it back."""
    logprobs, tokens, reference = pairs()
    losses, margins = preference_loss(spec, PairView(logprobs, tokens, reference))
    (gradient,) = torch.autograd.grad(losses.sum(), logprobs)
    below = margins < 0.5 if spec.type == "ipo" else margins < math.inf
    below &= (margins < math.log((1 - 0.3) / 0.3)) if getattr(spec, "label_smoothing", 0.0) else below
    assert bool(below.any())
    assert bool((gradient[below][:, 0] < 0).all()) and bool((gradient[below][:, 1] > 0).all())


def test_what_each_loss_compares_with() -> None:
    logprobs, tokens, reference = pairs()
    for spec in SPECS:
        if spec.type in ("dpo", "ipo"):
            with pytest.raises(ValueError, match="compares with a reference policy, and there is none"):
                preference_loss(spec, PairView(logprobs, tokens))
            losses, margins = preference_loss(spec, PairView(reference, tokens, reference))
            same = math.log(2.0) if spec.type == "dpo" else 1.0 / (4.0 * spec.beta**2)
            assert losses.tolist() == pytest.approx([same] * len(losses))
            assert margins.tolist() == [0.0] * len(margins)
        else:
            one, other = (preference_loss(spec, PairView(logprobs, tokens, held))[0] for held in (None, reference))
            assert torch.equal(one, other)


def test_ipo_does_not_move_once_the_margin_is_reached() -> None:
    [spec] = [one for one in SPECS if one.type == "ipo"]
    logprobs = torch.tensor([[10.0 / (2 * spec.beta), 0.0]], dtype=torch.float64).requires_grad_()
    tokens = torch.tensor([[10.0, 3.0]], dtype=torch.float64)
    losses, _ = preference_loss(spec, PairView(logprobs, tokens, torch.zeros(1, 2, dtype=torch.float64)))
    (gradient,) = torch.autograd.grad(losses.sum(), logprobs)
    assert losses.tolist() == pytest.approx([0.0], abs=1e-20) and float(gradient.abs().max()) < 1e-12


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@every_loss
def test_extreme_margins_stay_finite(spec: Any, dtype: torch.dtype) -> None:
    rows = [[-1e6, -1e-9], [-1e-9, -1e6], [0.0, 0.0], [0.0, -1e5], [-1e5, 0.0], [-1e-30, -1e-30], [-2e5, -1e5]]
    logprobs = torch.tensor(rows, dtype=dtype).requires_grad_()
    tokens, reference = torch.ones_like(logprobs), torch.full_like(logprobs, -10.0)
    losses, margins = preference_loss(spec, PairView(logprobs, tokens.detach(), reference.detach()))
    (gradient,) = torch.autograd.grad(losses.sum(), logprobs)
    assert all(bool(torch.isfinite(values).all()) for values in (losses, margins, gradient))
    assert margins[0].item() < 0.0 < margins[1].item()


def test_log_odds_are_exact_at_both_ends() -> None:
    for logprob in (-1e-6, -1e-3, -math.log(2.0), -0.7, -5.0, -40.0, -800.0):
        found = float(log_odds(torch.tensor(logprob, dtype=torch.float64)))
        assert found == pytest.approx(logprob - math.log(-math.expm1(logprob)), rel=1e-12, abs=1e-15)
    assert float(log_odds(torch.tensor(0.0, dtype=torch.float64))) == pytest.approx(math.log(2.0**23), rel=1e-6)


@pytest.mark.parametrize(
    "variant",
    [
        {"type": "dpo", "beta": 0.0},
        {"type": "dpo", "label_smoothing": 0.5},
        {"type": "ipo", "beta": -1.0},
        {"type": "simpo", "margin": -0.1},
        {"type": "orpo", "weight": 0.0},
        {"type": "kto"},
    ],
)
def test_constants_without_a_meaning_are_refused(variant: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(PreferenceLoss).validate_python(variant)

"""Policy losses: values and gradients against the papers' formulas, and what holds for all of them."""

import itertools
from typing import Any, get_args

import pytest
import torch
from pydantic import TypeAdapter
from torch import Tensor

from tests.trainer_core.methods.loss_formulas import FORMULAS, written_out
from trainer_core.methods import losses
from trainer_core.methods.losses import one_pass
from trainer_core.methods.view import TokenView
from trainer_core.metrics import find
from trainer_core.spec.methods.loss import Loss

VARIANTS: list[dict[str, Any]] = [
    {"type": "reinforce"},
    {"type": "ppo_clip", "ratio_min": 0.8, "ratio_max": 1.28},
    {"type": "ppo_clip", "ratio_min": 0.8, "ratio_max": 1.28, "ratio_dual": 1.6},
    {"type": "cispo", "ratio_min": 0.0, "ratio_max": 1.2},
    {"type": "cispo", "ratio_min": 0.7, "ratio_max": 2.0},
    {"type": "gspo", "ratio_min": 0.9, "ratio_max": 1.15},
    {"type": "gspo", "ratio_min": 0.9, "ratio_max": 1.15, "level": "token"},
    {"type": "sapo"},
    {"type": "sapo", "temperature_positive": 3.0, "temperature_negative": 0.5},
    {"type": "dppo", "divergence": "tv", "divergence_max": 0.02},
    {"type": "dppo", "divergence": "kl", "divergence_max": 0.01, "ratio_max": 1.4},
    {"type": "decoupled_ppo", "weight_max": 1.3},
    {"type": "minpro", "ratio_max": 1.1},
    {"type": "minpro", "ratio_min": 0.6, "ratio_max": 1.5},
    {"type": "vespo"},
    {"type": "sequence_mask", "ratio_min": 0.5, "ratio_max": 1.9},
    {"type": "sequence_mask", "divergence_max": 0.2},
    {"type": "kl_penalised", "coefficient": 2.0},
]
SPECS = [TypeAdapter(Loss).validate_python(variant) for variant in VARIANTS]
"""Every loss, with bounds narrow enough to bind."""


def ids(spec: Any) -> str:
    return "-".join(str(value) for value in spec.model_dump().values())


every_loss = pytest.mark.parametrize("spec", SPECS, ids=ids)


def batch(seed: int = 0, *, spread: float = 0.35) -> dict[str, Tensor]:
    """A ragged batch in float64: sequences of 1 to 9 tokens in no particular order of their ids, some masked."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.tensor([4, 1, 9, 2, 6, 3, 5])
    sequence = torch.repeat_interleave(torch.tensor([11, 3, 4, 20, 0, 8, 5]), lengths)
    size = len(sequence)

    def noise(scale: float) -> Tensor:
        return scale * torch.randn(size, generator=generator, dtype=torch.float64)

    behaviour = -2.5 + noise(0.8).clamp(-2.0, 2.0)
    old = behaviour + noise(spread)
    mask = torch.rand(size, generator=generator) < 0.8
    mask[sequence == 20] = False
    advantages = noise(1.0)
    advantages[::7] = 0.0
    return {
        "logprobs": (old + noise(spread)).requires_grad_(),
        "old_logprobs": old,
        "behaviour_logprobs": behaviour,
        "advantages": advantages,
        "mask": mask,
        "sequence": sequence,
    }


def evaluate(spec: Loss, tokens: dict[str, Tensor], weights: Tensor) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
    """Losses, the gradient of their weighted sum, and the metrics."""
    values, metrics = losses.token_loss(spec, TokenView(**tokens))
    mask = tokens["mask"]
    (gradient,) = torch.autograd.grad((values.masked_fill(~mask, 0.0) * weights).sum(), tokens["logprobs"])
    return values.detach(), gradient, metrics


def test_every_loss_of_the_spec_is_tested() -> None:
    union = get_args(get_args(Loss)[0])
    assert {member.model_fields["type"].default for member in union} == {spec.type for spec in SPECS} == set(FORMULAS)


@every_loss
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_value_and_gradient_are_the_formulas(spec: Loss, seed: int) -> None:
    tokens = batch(seed)
    mask = tokens["mask"]
    # Unequal weights, so that a gradient which leaks from token to token or sequence to sequence shows.
    weights = torch.rand(len(mask), generator=torch.Generator().manual_seed(9), dtype=torch.float64)
    expected = written_out(spec, *tokens.values())
    total = torch.stack([weights[t] * value for t, value in expected]).sum()
    (slopes,) = torch.autograd.grad(total, tokens["logprobs"], allow_unused=True)
    values, gradient, _ = evaluate(spec, tokens, weights)
    for t, value in expected:
        assert values[t].item() == pytest.approx(value.item(), rel=1e-12, abs=1e-14)
    torch.testing.assert_close(gradient, slopes, rtol=1e-11, atol=1e-14)
    assert gradient[mask].abs().max() > 0.0


@every_loss
def test_metrics_are_known_and_without_gradient(spec: Loss) -> None:
    tokens = batch()
    _, metrics = losses.token_loss(spec, TokenView(**tokens))
    mask, drift = tokens["mask"], tokens["old_logprobs"] - tokens["logprobs"].detach()
    assert metrics["actor/ppo_kl"].item() == pytest.approx(drift[mask].mean().item(), rel=1e-12)
    for name, value in metrics.items():
        assert find(name) is not None, name
        assert value.shape == () and not value.requires_grad


@every_loss
@pytest.mark.parametrize("seed", [0, 1])
def test_on_policy_the_gradient_is_that_of_reinforce(spec: Loss, seed: int) -> None:
    tokens = batch(seed, spread=0.0)
    # One advantage for all tokens of a sequence, as groups give them: the sequence form of GSPO shares the gradient.
    tokens["advantages"] = tokens["sequence"].double() % 5 - 2
    _, gradient, metrics = evaluate(spec, tokens, torch.ones(len(tokens["mask"]), dtype=torch.float64))
    torch.testing.assert_close(gradient, -(tokens["advantages"] * tokens["mask"]), rtol=1e-12, atol=1e-14)
    assert all(metrics[name] == 0.0 for name in metrics if name != "actor/gate_mean")


@every_loss
def test_broken_tokens_outside_the_mask_do_no_harm(spec: Loss) -> None:
    clean, nan = batch(), float("nan")
    weights = torch.ones(len(clean["mask"]), dtype=torch.float64)
    values, gradient, metrics = evaluate(spec, clean, weights)
    for filling in (nan, float("inf"), -float("inf")):
        broken = dict(clean)
        for name in ("logprobs", "old_logprobs", "behaviour_logprobs", "advantages"):
            broken[name] = clean[name].detach().masked_fill(~clean["mask"], filling)
        broken["logprobs"].requires_grad_()
        found, slope, numbers = evaluate(spec, broken, weights)
        assert found[clean["mask"]].tolist() == values[clean["mask"]].tolist()
        assert slope.tolist() == gradient.tolist() and (slope[~clean["mask"]] == 0.0).all()
        assert numbers == metrics


@every_loss
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_huge_ratio_overflows_nowhere(spec: Loss, dtype: torch.dtype) -> None:
    for log_ratio, advantage in itertools.product((1000.0, -1000.0, 60.0, -60.0), (1.0, -1.0, 0.0)):
        first, second = (-1.0, -1.0 - log_ratio) if log_ratio > 0 else (-1.0 + log_ratio, -1.0)
        logprobs = torch.tensor([first, -2.0, -1.5], dtype=dtype, requires_grad=True)
        old = torch.tensor([second, -2.0, -1.5], dtype=dtype)
        mask, sequence = torch.ones(3, dtype=torch.bool), torch.tensor([0, 0, 1])
        tokens = dict(
            zip(
                TokenView.__dataclass_fields__,
                (logprobs, old, old, torch.full((3,), advantage, dtype=dtype), mask, sequence),
                strict=False,  # what only some losses ask for is left out
            )
        )
        values, gradient, metrics = evaluate(spec, tokens, torch.ones(3, dtype=dtype))
        assert torch.isfinite(values).all() and torch.isfinite(gradient).all(), (log_ratio, advantage)
        assert all(torch.isfinite(value) for value in metrics.values())
        # The sequence beside it notices nothing.
        assert gradient[2].item() == pytest.approx(-advantage, rel=1e-6)


@every_loss
def test_without_advantage_there_is_no_gradient(spec: Loss) -> None:
    tokens = {**batch(), "advantages": torch.zeros(30, dtype=torch.float64)}
    _, gradient, metrics = evaluate(spec, tokens, torch.ones(30, dtype=torch.float64))
    if spec.type != "kl_penalised":  # whose penalty holds for every token
        assert (gradient == 0.0).all()
    assert metrics.get("actor/clip_high_share", 0.0) == metrics.get("actor/clip_low_share", 0.0) == 0.0


@every_loss
def test_an_empty_mask_and_an_empty_batch_are_accepted(spec: Loss) -> None:
    nobody = {**batch(), "mask": torch.zeros(30, dtype=torch.bool)}
    _, gradient, metrics = evaluate(spec, nobody, torch.ones(30, dtype=torch.float64))
    assert (gradient == 0.0).all() and all(value == 0.0 for value in metrics.values())
    empty = {name: value[:0] for name, value in batch().items()}
    values, metrics = losses.token_loss(spec, TokenView(**empty))
    assert len(values) == 0 and all(torch.isfinite(value) for value in metrics.values())


@every_loss
def test_only_the_current_policy_gets_a_gradient(spec: Loss) -> None:
    tokens = batch()
    for name in ("old_logprobs", "behaviour_logprobs", "advantages"):
        tokens[name] = tokens[name].clone().requires_grad_()
    values, _ = losses.token_loss(spec, TokenView(**tokens))
    values.sum().backward()
    assert all(tokens[name].grad is None for name in ("old_logprobs", "behaviour_logprobs", "advantages"))


@every_loss
def test_sequences_do_not_see_one_another(spec: Loss) -> None:
    tokens = batch()
    together, _ = losses.token_loss(spec, TokenView(**tokens))
    for index in tokens["sequence"].unique():
        here = tokens["sequence"] == index
        alone, _ = losses.token_loss(spec, TokenView(**{name: value[here] for name, value in tokens.items()}))
        torch.testing.assert_close(alone, together[here], rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("spec", [one for one in SPECS if one.type in ("ppo_clip", "cispo")], ids=ids)
def test_one_pass_is_the_same_as_separate_operations(monkeypatch: pytest.MonkeyPatch, spec: Any) -> None:
    given = batch(3, spread=1.0)
    given["advantages"][::4] = 0.0
    found = []
    for backend in ("auto", "reference"):
        monkeypatch.setattr(one_pass, "BACKEND", backend)
        leaf = given["logprobs"].clone().requires_grad_()
        loss, metrics = losses.token_loss(spec, TokenView(**{**given, "logprobs": leaf}))
        slope = torch.linspace(-1, 2, len(loss), dtype=torch.float64)
        found.append((loss, torch.autograd.grad((loss * slope).sum(), leaf)[0], metrics))
    (loss, gradient, metrics), (own, own_gradient, own_metrics) = found
    torch.testing.assert_close(own, loss, rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(own_gradient, gradient, rtol=1e-12, atol=1e-14)
    assert {name: float(value) for name, value in own_metrics.items()} == pytest.approx(
        {name: float(value) for name, value in metrics.items()}, rel=1e-12
    )
    assert 0 < float(metrics["actor/pg_clipfrac"]) < 1


def test_a_shift_of_the_routing_is_no_matter_of_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_pass, "BACKEND", "reference")
    given = batch(3)
    view = TokenView(**given, log_shift=torch.full_like(given["logprobs"], -0.1))
    assert one_pass.one_pass("cispo", 0.0, 1.2, view) is None
    assert one_pass.one_pass("cispo", 0.0, 1.2, TokenView(**given)) is not None

"""DPPO over the likeliest tokens: the divergence in float64 against whole distributions, and the loss that it masks."""

import math

import pytest
import torch
from pydantic import TypeAdapter
from torch import Tensor

from trainer_core.methods import losses
from trainer_core.methods.losses.dppo import binary_divergence, top_k_divergence
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.loss import DPPOLoss, Loss

VOCABULARY = 12


def make(divergence: str, **values: object) -> DPPOLoss:
    return DPPOLoss.model_validate({"approximation": "top_k", "divergence": divergence, **values})


def policies(seed: int, rows: int = 7) -> tuple[Tensor, Tensor, Tensor]:
    """Log-probabilities now and then [N, V], and sampled tokens [N]."""
    generator = torch.Generator().manual_seed(seed)
    then, step = (torch.randn(rows, VOCABULARY, generator=generator, dtype=torch.float64) for _ in range(2))
    sampled = torch.randint(0, VOCABULARY, (rows,), generator=generator)
    return (then + 0.5 * step).log_softmax(-1), then.log_softmax(-1), sampled


def found(spec: DPPOLoss, now: Tensor, then: Tensor, sampled: Tensor, k: int) -> Tensor:
    values, ids = then.topk(k, dim=-1)
    own = sampled.unsqueeze(1)
    parts = (now.gather(1, own)[:, 0], then.gather(1, own)[:, 0], now.gather(1, ids), values, ids == own)
    return top_k_divergence(spec, *parts)


def written_out(spec: DPPOLoss, now: Tensor, then: Tensor, sampled: int, k: int) -> float:
    """Both distributions as dictionaries over the kept tokens and "any other"."""
    kept = {sampled, *then.topk(k).indices.tolist()}
    p, q = ({v: math.exp(row[v].item()) for v in kept} for row in (then, now))
    p[-1], q[-1] = 1 - sum(p.values()), 1 - sum(q.values())
    if spec.divergence == "tv":
        return sum(abs(p[v] - q[v]) for v in p) / 2
    return sum(p[v] * math.log(p[v] / q[v]) for v in p if p[v] > 1e-12)


@pytest.mark.parametrize("divergence", ["tv", "kl"])
@pytest.mark.parametrize("k", [1, 3, 6])
@pytest.mark.parametrize("seed", [0, 1])
def test_it_is_the_divergence_of_the_reduced_distributions(divergence: str, k: int, seed: int) -> None:
    spec = make(divergence)
    now, then, sampled = policies(seed)
    values = found(spec, now, then, sampled, k)
    for row, value in enumerate(values.tolist()):
        assert value == pytest.approx(written_out(spec, now[row], then[row], int(sampled[row]), k), rel=1e-10)


@pytest.mark.parametrize("divergence", ["tv", "kl"])
def test_it_lies_between_the_binary_and_the_whole(divergence: str) -> None:
    spec = make(divergence)
    now, then, sampled = policies(2, rows=50)
    own = sampled.unsqueeze(1)
    binary = binary_divergence(spec, now.gather(1, own)[:, 0], then.gather(1, own)[:, 0])
    whole = (now.exp() - then.exp()).abs().sum(1) / 2 if divergence == "tv" else (then.exp() * (then - now)).sum(1)
    before = binary
    for k in (1, 4, 8, VOCABULARY):
        values = found(spec, now, then, sampled, k)
        assert (values >= before - 1e-12).all()
        before = values
    torch.testing.assert_close(before, whole, rtol=1e-9, atol=1e-12)
    assert (found(spec, then, then, sampled, 3).abs() < 1e-12).all()


def test_tokens_that_sampling_excluded_add_nothing_to_the_divergence_from_it() -> None:
    then = torch.tensor([[0.75, 0.25, 0.0]], dtype=torch.float64).log()
    now = torch.tensor([[0.5, 0.25, 0.25]], dtype=torch.float64).log()
    sampled = torch.tensor([0])
    assert found(make("kl"), now, then, sampled, 3).item() == pytest.approx(0.75 * math.log(1.5))
    assert found(make("tv"), now, then, sampled, 3).item() == pytest.approx(0.25)


def test_the_mask_follows_the_divergence_and_the_gradient_the_mask() -> None:
    old = torch.tensor([0.5, 0.5, 0.5, 0.5, 0.01], dtype=torch.float64).log()
    now = torch.tensor([0.52, 0.52, 0.48, 0.48, 0.02], dtype=torch.float64).log().requires_grad_()
    advantages = torch.tensor([1.0, 1.0, -1.0, 1.0, 2.0], dtype=torch.float64)
    # Over all tokens the second and third have moved by more than the sampled token tells; the fourth comes back.
    divergence = torch.tensor([0.1, 0.3, 0.3, 0.3, 0.1], dtype=torch.float64)
    everything = torch.ones(5, dtype=torch.bool), torch.zeros(5, dtype=torch.long)
    spec = make("tv", divergence_max=0.15)
    view = TokenView(now, old, old, advantages, *everything, divergence=divergence)
    values, metrics = losses.token_loss(spec, view)
    (gradient,) = torch.autograd.grad(values.sum(), now)
    kept = torch.tensor([1.0, 0.0, 0.0, 1.0, 1.0], dtype=torch.float64)
    expected = -kept * (now - old).exp().detach() * advantages
    torch.testing.assert_close(gradient, expected)
    torch.testing.assert_close(values.detach(), expected * now.detach())
    assert metrics["actor/clip_high_share"].item() == metrics["actor/clip_low_share"].item() == pytest.approx(0.2)
    with pytest.raises(ValueError, match="needs the engine's probabilities"):
        losses.token_loss(spec, TokenView(now, old, old, advantages, *everything))


def test_only_it_asks_the_engine_for_more() -> None:
    assert make("tv", k=7).top_tokens == 7
    assert DPPOLoss(k=7).top_tokens == 0
    assert TypeAdapter(Loss).validate_python({"type": "ppo_clip"}).top_tokens == 0

"""Linear layer and log-probability in one: values and gradients against float64 and an independent formula."""

import math

import pytest
import torch
from torch import Tensor

from kernels.linear_logprob import linear_logprob, reference


def plain(
    hidden: Tensor,
    weight: Tensor,
    targets: Tensor,
    heat: Tensor,
    bias: Tensor | None = None,
    softcap: float | None = None,
) -> tuple[Tensor, Tensor]:
    """In float64 and by torch's own distribution, all logits at once."""
    logits = hidden.double() @ weight.double().T
    if bias is not None:
        logits = logits + bias.double()
    if softcap is not None:
        logits = softcap * torch.tanh(logits / softcap)
    found = torch.distributions.Categorical(logits=logits / heat.double()[:, None])
    entropy = torch.special.entr(found.probs).sum(-1)
    return found.log_prob(targets), entropy


def inputs(tokens: int, width: int, vocabulary: int, dtype: torch.dtype, scale: float = 1.0) -> list[Tensor]:
    generator = torch.Generator().manual_seed(tokens + vocabulary)
    hidden = torch.randn(tokens, width, generator=generator).mul(scale).to(dtype)
    weight = torch.randn(vocabulary, width, generator=generator).to(dtype)
    targets = torch.randint(0, vocabulary, (tokens,), generator=generator)
    heat = torch.rand(tokens, generator=generator) + 0.5
    return [hidden, weight, targets, heat]


@pytest.fixture(params=["kept", "tiled"])
def tiling(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Tiles of a few tokens and columns, which shapes do not divide; or one tile."""
    if request.param == "tiled":
        monkeypatch.setattr(reference, "KEPT_ELEMENTS", 0)
        monkeypatch.setattr(reference, "TILE_TOKENS", 4)
        monkeypatch.setattr(reference, "TILE_ELEMENTS", 12)
    return str(request.param)


@pytest.mark.expensive(2, "compiles or interprets kernels", about=("kernels",))
@pytest.mark.parametrize("softcap", [None, 1.5])
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize(("tokens", "invariant"), [(1, False), (7, False), (7, True)])
def test_gradients_of_both_outputs(
    tiling: str, biased: bool, tokens: int, invariant: bool, softcap: float | None
) -> None:
    hidden, weight, targets, heat = inputs(tokens, 5, 11, torch.float64)
    bias = torch.linspace(-1, 1, 11, dtype=torch.float64) if biased else None
    leaves = [t.requires_grad_() for t in (hidden, weight, bias) if t is not None]

    def both(*given: Tensor) -> tuple[Tensor, Tensor]:
        third = given[2] if biased else None
        return linear_logprob(given[0], given[1], targets, heat, third, softcap=softcap, batch_invariant=invariant)

    assert torch.autograd.gradcheck(both, leaves)
    slopes = torch.randn(2, tokens, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    mine = sum((found * slope).sum() for found, slope in zip(both(*leaves), slopes, strict=True))
    theirs = sum(
        (f * s).sum() for f, s in zip(plain(hidden, weight, targets, heat, bias, softcap), slopes, strict=True)
    )
    torch.testing.assert_close(mine, theirs, rtol=1e-12, atol=1e-12)
    for own, other in zip(torch.autograd.grad(mine, leaves), torch.autograd.grad(theirs, leaves), strict=True):
        torch.testing.assert_close(own, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("dtype", "near"), [(torch.float32, 2e-5), (torch.bfloat16, 2e-2)])
def test_low_precision_inputs_are_summed_in_float32(tiling: str, dtype: torch.dtype, near: float) -> None:
    hidden, weight, targets, heat = inputs(33, 16, 50, dtype)
    hidden.requires_grad_(), weight.requires_grad_()
    logprobs, entropy = linear_logprob(hidden, weight, targets, heat)
    assert logprobs.dtype == entropy.dtype == torch.float32
    logprobs.sum().backward()
    exact = [hidden.detach().double().requires_grad_(), weight.detach().double().requires_grad_()]
    expected, expected_entropy = plain(exact[0], exact[1], targets, heat)
    expected.sum().backward()
    # Whatever the type of the inputs, the values are those of a sum in float32.
    torch.testing.assert_close(logprobs.double(), expected, rtol=0, atol=2e-5)
    torch.testing.assert_close(entropy.double(), expected_entropy, rtol=0, atol=2e-5)
    for mine, theirs in zip((hidden, weight), exact, strict=True):
        assert mine.grad is not None and theirs.grad is not None and mine.grad.dtype == dtype
        torch.testing.assert_close(mine.grad.double(), theirs.grad, rtol=near, atol=near)


def test_huge_logits_and_tokens_that_are_out_of_the_vocabulary(tiling: str) -> None:
    hidden, weight, targets, heat = inputs(9, 5, 13, torch.float32, scale=2000.0)
    bias = torch.zeros(13)
    bias[[0, 1, 2, 3, 12]] = -math.inf
    targets = targets.clamp(4, 11)
    leaves = [hidden.requires_grad_(), weight.requires_grad_()]
    logprobs, entropy = linear_logprob(hidden, weight, targets, heat, bias)
    expected, expected_entropy = plain(hidden.detach(), weight.detach(), targets, heat, bias)
    torch.testing.assert_close(logprobs.double(), expected, rtol=1e-5, atol=1e-2)
    torch.testing.assert_close(entropy.double(), expected_entropy, rtol=1e-4, atol=1e-4)
    gradients = torch.autograd.grad((logprobs + entropy).sum(), leaves)
    assert all(bool(gradient.isfinite().all()) for gradient in gradients)
    assert bool((gradients[1][[0, 1, 2, 3, 12]] == 0).all())


def test_a_target_of_probability_zero_is_minus_infinity(tiling: str) -> None:
    hidden, weight, targets, heat = inputs(6, 5, 13, torch.float64)
    bias = torch.zeros(13, dtype=torch.float64).index_fill_(0, targets[:1], -math.inf)
    logprobs, _ = linear_logprob(hidden, weight, targets, heat, bias)
    assert logprobs[0] == -math.inf
    assert bool(logprobs[targets != targets[0]].isfinite().all())


def test_no_tokens_and_gradients_that_nobody_asks_for(tiling: str) -> None:
    hidden, weight, targets, heat = inputs(0, 5, 13, torch.float32)
    weight.requires_grad_()
    logprobs, entropy = linear_logprob(hidden, weight, targets, heat)
    assert logprobs.shape == entropy.shape == (0,)
    logprobs.sum().backward()
    assert weight.grad is not None and float(weight.grad.abs().sum()) == 0.0
    assert hidden.grad is None


def test_refusals() -> None:
    hidden, weight, targets, heat = inputs(4, 5, 13, torch.float32)
    with pytest.raises(ValueError, match=r"must be \[T, D\] and \[V, D\]"):
        linear_logprob(hidden[:, :4], weight, targets, heat)
    with pytest.raises(ValueError, match=r"shape \[4\] of the tokens"):
        linear_logprob(hidden, weight, targets[:2], heat)
    with pytest.raises(ValueError, match=r"shape \[13\] of the vocabulary"):
        linear_logprob(hidden, weight, targets, heat, torch.zeros(5))


@pytest.mark.parametrize("place_matters", [False, True])
def test_a_token_has_the_same_bits_in_any_batch_and_place(monkeypatch: pytest.MonkeyPatch, place_matters: bool) -> None:
    monkeypatch.setattr(reference, "TILE_ELEMENTS", 1 << 13)
    monkeypatch.setattr(reference, "RUN_ELEMENTS", 1 << 11)
    if place_matters:  # as in a library in which it does: single rows
        monkeypatch.setattr(reference, "tile_rows", lambda *_: 1)
    hidden, weight, targets, heat = inputs(300, 96, 70, torch.float32, scale=3.0)
    found = torch.stack(linear_logprob(hidden, weight, targets, heat, batch_invariant=True))
    for chosen in ([7], [299, 7], [*range(130, 0, -1)], [*range(0, 300, 2)]):
        part = torch.tensor(chosen)
        own = linear_logprob(hidden[part], weight, targets[part], heat[part], batch_invariant=True)
        assert torch.equal(torch.stack(own), found[:, part])
    torch.testing.assert_close(found, torch.stack(linear_logprob(hidden, weight, targets, heat)), rtol=1e-4, atol=1e-4)


def test_no_tokens_in_an_invariant_batch() -> None:
    hidden, weight, targets, heat = inputs(0, 4, 5, torch.float32)
    logprobs, entropies = linear_logprob(hidden, weight, targets, heat, batch_invariant=True)
    assert logprobs.shape == entropies.shape == (0,)

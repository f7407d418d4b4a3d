"""Operations of ``kernels`` on a device, by the path that it takes by itself, against the reference in float64."""

import pytest
import torch
from torch import Tensor

from kernels.batch_invariant import log_softmax, matmul, rms_norm
from kernels.lightning_attention import lightning_attention
from kernels.linear_logprob import linear_logprob
from kernels.policy_loss import Method, policy_loss
from kernels.ragged import group_statistics, repeats_at_end
from kernels.rms_norm import Gain
from kernels.rms_norm import rms_norm as narrow_norm
from kernels.rotation import rotate

TOKENS, WIDTH, VOCABULARY = 300, 192, 5003
"""Larger than a tile, and divided by none."""


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def near(found: list[Tensor], expected: list[Tensor], tolerance: float) -> None:
    """Compare with the largest entry in mind: entries are sums of many."""
    for mine, theirs in zip(found, expected, strict=True):
        most = max(1.0, float(theirs.detach().abs().max()))
        torch.testing.assert_close(mine.cpu().double(), theirs.double(), rtol=tolerance, atol=tolerance * most)


@pytest.mark.parametrize("invariant", [False, True], ids=["usual", "batch-invariant"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_linear_logprob(device: str, dtype: torch.dtype, invariant: bool) -> None:
    leaves = [normal(TOKENS, WIDTH).to(dtype), (normal(VOCABULARY, WIDTH, seed=1) / 8).to(dtype)]
    targets = torch.randint(0, VOCABULARY, (TOKENS,), generator=torch.Generator().manual_seed(2))
    heat, slope = normal(TOKENS, seed=3).abs() + 0.5, normal(TOKENS, seed=4)
    answers = []
    for place, kind in ((device, dtype), ("cpu", torch.float64)):
        hidden, weight = (one.to(place, kind).requires_grad_() for one in leaves)
        given = (hidden, weight, targets.to(place), heat.to(place, torch.float64 if place == "cpu" else torch.float32))
        given = given if kind == torch.float64 else (*given[:3], heat.to(place))
        logprobs, entropy = linear_logprob(*given, batch_invariant=invariant and kind != torch.float64)
        gradients = torch.autograd.grad((logprobs * slope.to(logprobs)).sum(), (hidden, weight))
        answers.append([logprobs, entropy, *gradients])
    near(*answers, 1e-3 if dtype == torch.float32 else 3e-2)


@pytest.mark.parametrize("method", ["ppo_clip", "cispo"])
def test_policy_loss(device: str, method: Method) -> None:
    noise = normal(4, TOKENS)
    answers = []
    for place, kind in ((device, torch.float32), ("cpu", torch.float64)):
        own = noise.to(place, kind)
        old, mask = -own[0].abs(), own[3] < 1.0
        current = (old + 0.3 * own[1]).requires_grad_()
        behaviour, advantages = old + own[2] / 8, own[3]
        loss, metrics = policy_loss(
            current, old, behaviour, advantages, mask, method=method, ratio_min=0.8, ratio_max=1.2
        )
        gradient = torch.autograd.grad((loss * own[0]).sum(), current)[0]
        answers.append([loss, gradient, *(torch.as_tensor(value) for value in metrics.values())])
    near(*answers, 1e-4)


@pytest.mark.parametrize("size", [128, 1000, 5120])
@pytest.mark.parametrize("gain", ["rounded_first", "rounded_last", "offset"])
def test_rms_norm(device: str, gain: Gain, size: int) -> None:
    """Sums of another order: one number in a thousand, at most, is rounded to another neighbour."""
    x, weight, slope = (normal(*shape).bfloat16() for shape in ((TOKENS, 3, size), (size,), (TOKENS, 3, size)))
    answers = []
    for place in (device, "cpu"):
        leaves = [one.detach().to(place).requires_grad_() for one in (x, weight)]
        out = narrow_norm(*leaves, 1e-6, gain)
        answers.append([out.detach().cpu(), *(one.cpu() for one in torch.autograd.grad(out, leaves, slope.to(place)))])
    (mine, *flows), (theirs, *others) = answers
    assert (mine != theirs).float().mean() < 1e-3
    torch.testing.assert_close(mine, theirs, rtol=2**-6, atol=1e-6)
    near(flows, [one.double() for one in others], 1e-2)


@pytest.mark.parametrize("size", [64, 96, 128])
def test_rotation(device: str, size: int) -> None:
    """To the last bit, in any order in memory."""
    x, slope = (normal(TOKENS, 5, size, seed=seed).bfloat16() for seed in (0, 1))
    cosine, sine = (normal(TOKENS, size, seed=seed).bfloat16() for seed in (2, 3))
    expected = rotate(x, cosine, sine)
    leaf = x.clone().requires_grad_()
    flow = torch.autograd.grad(rotate(leaf, cosine, sine), leaf, slope)[0]
    for heads_first in (False, True):
        given, coming = (one.transpose(0, 1).contiguous().transpose(0, 1) if heads_first else one for one in (x, slope))
        own = given.to(device).requires_grad_()
        out = rotate(own, cosine.to(device), sine.to(device))
        assert torch.equal(out.detach().cpu(), expected)
        assert torch.equal(torch.autograd.grad(out, own, coming.to(device))[0].cpu(), flow)


def test_ragged(device: str) -> None:
    sizes = torch.randint(0, 400, (40,), generator=torch.Generator().manual_seed(0))
    starts = torch.cat([torch.zeros(1, dtype=torch.int64), sizes.cumsum(0)])
    values = normal(int(starts[-1]))
    near(
        list(group_statistics(values.to(device), starts.to(device), sample=True)),
        list(group_statistics(values, starts, sample=True, backend="reference")),
        1e-5,
    )
    tokens = torch.randint(0, 2, (int(starts[-1]),), generator=torch.Generator().manual_seed(1))
    found = repeats_at_end(tokens.to(device), starts.to(device), 5)
    assert found.tolist() == repeats_at_end(tokens, starts, 5, backend="reference").tolist()


@pytest.mark.parametrize("name", ["matmul", "rms_norm", "log_softmax"])
def test_batch_invariance(device: str, name: str) -> None:
    rows, right = normal(TOKENS, WIDTH), normal(65, WIDTH, seed=1)

    def answer(x: Tensor) -> Tensor:
        other = right.to(x)
        match name:
            case "matmul":
                return matmul(x, other)
            case "rms_norm":
                return rms_norm(x, other[0], 1e-6)
            case _:
                return log_softmax(x)

    whole = answer(rows.to(device))
    near([whole], [answer(rows.double())], 1e-3)
    for place in (0, 7, TOKENS - 1):
        assert torch.equal(answer(rows[place : place + 1].to(device))[0], whole[place]), "neighbours change no bit"


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_lightning_attention(device: str, dtype: torch.dtype) -> None:
    heads, size, edges = 2, 32, torch.tensor([0, 7, 250, TOKENS])
    parts = [normal(TOKENS, heads, size, seed=seed).to(dtype) for seed in range(3)]
    state, slopes = normal(len(edges) - 1, heads, size, size, seed=3), torch.tensor([0.1, 1.0])
    slope = normal(TOKENS, heads, size, seed=4)
    answers = []
    for place, kind in ((device, dtype), ("cpu", torch.float64)):
        leaves = [part.to(place, kind).requires_grad_() for part in parts]
        wide = torch.float64 if kind == torch.float64 else torch.float32
        out, last = lightning_attention(*leaves, slopes.to(place, wide), edges, state.to(place, wide))
        total = (out * slope.to(out)).sum() + last.sum()
        answers.append([out, last, *torch.autograd.grad(total, leaves)])
    near(*answers, 2e-3 if dtype == torch.float32 else 4e-2)

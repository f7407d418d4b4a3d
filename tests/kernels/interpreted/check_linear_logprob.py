"""The Triton path of the fused log-probability against the reference."""

import math

import pytest
import torch
from torch import Tensor

from kernels.batch_invariant import triton as products
from kernels.linear_logprob import linear_logprob
from kernels.linear_logprob import triton as compiled


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("tokens", [0, 1, 9])
@pytest.mark.parametrize("biased", [False, True])
def test_values_and_gradients(monkeypatch: pytest.MonkeyPatch, tokens: int, biased: bool, dtype: torch.dtype) -> None:
    monkeypatch.setattr(compiled, "BLOCK", 16)
    monkeypatch.setattr(compiled, "TILE_ELEMENTS", 200)
    generator = torch.Generator().manual_seed(tokens)
    hidden = torch.randn(tokens, 8, generator=generator).mul(3).to(dtype)
    weight = torch.randn(53, 8, generator=generator).to(dtype)
    targets = torch.randint(20, 53, (tokens,), generator=generator)
    heat = torch.rand(tokens, generator=generator) + 0.5
    bias = torch.randn(53, generator=generator).index_fill_(0, torch.arange(0, 19), -math.inf).to(dtype)
    slopes = torch.randn(2, tokens, generator=generator)
    found: dict[str, list[Tensor]] = {}
    for backend in ("reference", "triton"):
        leaves = [t.clone().requires_grad_() for t in ((hidden, weight, bias) if biased else (hidden, weight))]
        given = leaves[2] if biased else None
        logprobs, entropy = linear_logprob(leaves[0], leaves[1], targets, heat, given, backend=backend)
        total = (logprobs * slopes[0] + entropy * slopes[1]).sum()
        found[backend] = [logprobs, entropy, *torch.autograd.grad(total, leaves)]
    near = 1e-4 if dtype == torch.float32 else 4e-2
    for number, (mine, theirs) in enumerate(zip(found["triton"], found["reference"], strict=True)):
        torch.testing.assert_close(mine, theirs, rtol=near, atol=1e-4 if number < 2 else near)


def test_a_token_has_the_same_bits_in_any_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(products.TILES, 4, products.MatmulTiles(16, 16, 16, 4, 2))
    monkeypatch.setattr(compiled, "BLOCK", 16)
    monkeypatch.setattr(compiled, "TILE_ELEMENTS", 200)
    generator = torch.Generator().manual_seed(1)
    hidden, weight = torch.randn(40, 24, generator=generator), torch.randn(53, 24, generator=generator)
    targets, heat = torch.randint(0, 53, (40,), generator=generator), torch.rand(40, generator=generator) + 0.5
    whole = linear_logprob(hidden, weight, targets, heat, batch_invariant=True, backend="triton")
    for part in (slice(3, 4), slice(3, 30)):
        given = (hidden[part], weight, targets[part], heat[part])
        own = linear_logprob(*given, batch_invariant=True, backend="triton")
        assert torch.equal(torch.stack(own), torch.stack(whole)[:, part])
    usual = linear_logprob(hidden, weight, targets, heat, backend="reference")
    torch.testing.assert_close(torch.stack(whole), torch.stack(usual), rtol=1e-4, atol=1e-4)

"""The normalisation beside its formula in float64, and beside the norms of the policies whose rounding it has."""

from typing import get_args

import pytest
import torch
from torch import Tensor
from transformers.models.gemma3.modeling_gemma3 import Gemma3RMSNorm
from transformers.models.llama.modeling_llama import LlamaRMSNorm
from transformers.models.olmo2.modeling_olmo2 import Olmo2RMSNorm

from kernels.rms_norm import Gain, rms_norm

SIZE = 40
POLICIES = {"rounded_first": LlamaRMSNorm, "rounded_last": Olmo2RMSNorm, "offset": Gemma3RMSNorm}


def made(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def by_formula(x: Tensor, weight: Tensor, gain: Gain) -> Tensor:
    unit = x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()
    return unit * (weight + 1 if gain == "offset" else weight)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("gain", get_args(Gain))
def test_values_and_gradients(gain: Gain, dtype: torch.dtype) -> None:
    leaves = [made(3, 5, SIZE).to(dtype).requires_grad_(), made(SIZE, seed=1).to(dtype).requires_grad_()]
    exact = [one.detach().double().requires_grad_() for one in leaves]
    slope = made(3, 5, SIZE, seed=2)
    found, expected = rms_norm(*leaves, 1e-6, gain), by_formula(*exact, gain)
    tolerance = 1e-5 if dtype == torch.float32 else 3e-2
    torch.testing.assert_close(found.double(), expected, rtol=tolerance, atol=tolerance)
    mine = torch.autograd.grad(found, leaves, slope.to(dtype))
    theirs = torch.autograd.grad(expected, exact, slope)
    for own, other in zip(mine, theirs, strict=True):
        torch.testing.assert_close(own.double(), other, rtol=tolerance, atol=tolerance * float(other.abs().max()))


@pytest.mark.parametrize("gain", get_args(Gain))
def test_rounds_as_a_policy_does(gain: Gain) -> None:
    norm = POLICIES[gain](SIZE).bfloat16()
    x, weight = made(64, SIZE).bfloat16(), made(SIZE, seed=1).bfloat16()
    norm.weight.data.copy_(weight)
    epsilon = getattr(norm, "variance_epsilon", getattr(norm, "eps", None))
    assert torch.equal(rms_norm(x, weight, epsilon, gain), norm(x))
    others = [other for other in get_args(Gain) if other != gain]
    assert not any(torch.equal(rms_norm(x, weight, epsilon, other), norm(x)) for other in others)


def test_nothing_is_changed_in_place() -> None:
    for dtype in (torch.float32, torch.bfloat16):
        x, weight, slope = made(4, SIZE).to(dtype).requires_grad_(), made(SIZE).to(dtype), made(4, SIZE).to(dtype)
        before, given = x.detach().clone(), slope.clone()
        rms_norm(x, weight, 1e-6, "rounded_first").backward(slope)
        assert torch.equal(x, before) and torch.equal(slope, given)


def test_no_rows() -> None:
    x, weight = made(0, SIZE).bfloat16().requires_grad_(), made(SIZE).bfloat16().requires_grad_()
    rms_norm(x, weight, 1e-6, "offset").sum().backward()
    assert weight.grad is not None and weight.grad.count_nonzero() == 0


def test_shapes_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match=r"x \(3, 4\) and weight \(5,\) must be"):
        rms_norm(made(3, 4), made(5), 1e-6, "offset")

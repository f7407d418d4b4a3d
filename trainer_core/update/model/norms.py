"""A lean RMS normalisation in place of the policy's own: the same function, fewer passes over memory.

On a CPU the normalisations of a small policy cost as much as its attention. A module is replaced only where its own
output on random input agrees: about in float32, to the last bit in 16 bits, where what the policy's own keeps for the
backward pass, above all its input in float32, is most of what a layer keeps beside its matrices' inputs.
"""

from collections.abc import Callable, Iterator
from types import MethodType
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call


class _LeanRMSNorm(torch.autograd.Function):
    """y = w · x / sqrt(mean(x²) + ε) over the last dimension (arXiv 1910.07467, eq. 4)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
        scale = torch.linalg.vector_norm(x, dim=-1, keepdim=True).square_().div_(x.shape[-1]).add_(epsilon).rsqrt_()
        unit = x * scale
        ctx.save_for_backward(unit, scale, weight)
        return unit * weight

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
        unit, scale, weight = ctx.saved_tensors
        size = weight.shape[0]
        along = (grad * unit).reshape(-1, size)
        # dx = (g·w − u · mean(g·w·u)) / rms, with u the normalised input
        mean = torch.mv(along, weight).div_(-size).view(scale.shape)
        return (grad * weight).addcmul_(unit, mean).mul_(scale), along.sum(0), None


def lean_norm(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """w · x / sqrt(mean(x²) + ε) over the last dimension."""
    found: Tensor = _LeanRMSNorm.apply(x, weight, epsilon)
    return found


def _forward(self: Any, x: Tensor) -> Tensor:
    found: Tensor = self.normalise(x, self.weight, self.lean_epsilon)
    return found


def _rms_norms(model: nn.Module, dtype: torch.dtype) -> Iterator[tuple[Any, nn.Parameter, float]]:
    """RMS norms whose weight [D] is of ``dtype``, by their names: each with its weight and ε."""
    for module in model.modules():
        epsilon = getattr(module, "variance_epsilon", getattr(module, "eps", None))
        weight = getattr(module, "weight", None)
        if not type(module).__name__.endswith("RMSNorm") or epsilon is None or not isinstance(weight, nn.Parameter):
            continue
        if weight.ndim == 1 and weight.dtype == dtype:
            yield module, weight, epsilon


@torch.no_grad()
def use_lean_norms(model: nn.Module) -> int:
    """Replace the forward pass of every float32 RMS norm that computes just that.

    Returns:
        How many modules were replaced.
    """
    replaced = 0
    for module, weight, epsilon in _rms_norms(model, torch.float32):
        generator = torch.Generator().manual_seed(0)
        x = torch.randn(4, weight.shape[0], generator=generator).to(weight.device)
        if torch.allclose(module(x), _LeanRMSNorm.apply(x, weight, epsilon), rtol=1e-5, atol=1e-6):
            module.lean_epsilon, module.normalise = epsilon, lean_norm
            module.forward = MethodType(_forward, module)
            replaced += 1
    return replaced


def _rounded_first(unit: Tensor, weight: Tensor, dtype: torch.dtype) -> Tensor:
    return weight * unit.to(dtype)


def _rounded_last(unit: Tensor, weight: Tensor, dtype: torch.dtype) -> Tensor:
    return (weight * unit).to(dtype)


def _offset(unit: Tensor, weight: Tensor, dtype: torch.dtype) -> Tensor:
    return (unit * (1.0 + weight.float())).to(dtype)


Gain = Callable[[Tensor, Tensor, torch.dtype], Tensor]
GAINS: tuple[Gain, ...] = (_rounded_first, _rounded_last, _offset)
"""Ways from the normalised input in float32 to the output: Llama's, OLMo 2's and Gemma's."""


class _NarrowRMSNorm(torch.autograd.Function):
    """The norm of 16-bit input with sums in float32. Keeps the input as it is, and one number per row."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, epsilon: float, gain: Gain) -> Tensor:
        wide = x.float()
        scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + epsilon)
        ctx.save_for_backward(x, scale, weight)
        ctx.gain = gain
        return gain(wide.mul_(scale), weight, x.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None, None]:
        x, scale, weight = ctx.saved_tensors
        size = weight.shape[0]
        factor = weight.float() + (1.0 if ctx.gain is _offset else 0.0)
        unit, slope = x.float().mul_(scale), grad.float()
        along = (slope * unit).reshape(-1, size)
        to_weight = along.sum(0).to(weight.dtype)
        mean = torch.mv(along, factor).div_(-size).view(scale.shape)
        del along
        # Where the gradient had 32 bits already it is not this function's own.
        slope = slope * factor if slope is grad else slope.mul_(factor)
        return slope.addcmul_(unit, mean).mul_(scale).to(x.dtype), to_weight, None, None


def _narrow_forward(self: Any, x: Tensor) -> Tensor:
    found: Tensor = _NarrowRMSNorm.apply(x, self.weight, self.narrow_epsilon, self.gain)
    return found


@torch.no_grad()
def use_narrow_norms(model: nn.Module) -> int:
    """Replace the forward pass of every RMS norm with 16-bit weights whose output is known to the last bit.

    Returns:
        How many modules were replaced.
    """
    replaced = 0
    for module, weight, epsilon in _rms_norms(model, torch.bfloat16):
        generator = torch.Generator().manual_seed(0)
        x, other = (torch.randn(*shape, generator=generator).to(weight) for shape in ((16, len(weight)), weight.shape))
        # Weights that are all 1 would not tell when the output is rounded.
        expected = functional_call(module, {"weight": other}, (x,))
        for gain in GAINS:
            if torch.equal(expected, _NarrowRMSNorm.apply(x, other, epsilon, gain)):
                module.narrow_epsilon, module.gain = epsilon, gain
                module.forward = MethodType(_narrow_forward, module)
                replaced += 1
                break
    return replaced

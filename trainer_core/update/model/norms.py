"""A lean RMS normalisation in place of the policy's own: the same function, fewer passes over memory.

On a CPU the normalisations of a small policy cost as much as its attention. A module is replaced only if its own output
on random input agrees: approximately in float32, to the last bit in 16 bits. In 16 bits, what the policy's own saves
for the backward pass, above all its input in float32, is most of what a layer saves besides its matrices' inputs.
"""

from collections.abc import Iterator
from types import MethodType
from typing import Any, get_args

import torch
from torch import Tensor, nn
from torch.func import functional_call

from kernels.rms_norm import Gain, rms_norm


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
    """RMS norms, found by name, whose weight [D] has type ``dtype``: each with its weight and ε."""
    for module in model.modules():
        epsilon = getattr(module, "variance_epsilon", getattr(module, "eps", None))
        weight = getattr(module, "weight", None)
        if not type(module).__name__.endswith("RMSNorm") or epsilon is None or not isinstance(weight, nn.Parameter):
            continue
        if weight.ndim == 1 and weight.dtype == dtype:
            yield module, weight, epsilon


@torch.no_grad()
def use_lean_norms(model: nn.Module) -> int:
    """Replace the forward pass of every float32 RMS norm that computes the same as ``lean_norm``.

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


def _narrow_forward(self: Any, x: Tensor) -> Tensor:
    return rms_norm(x, self.weight, self.narrow_epsilon, self.gain)


@torch.no_grad()
def use_narrow_norms(model: nn.Module) -> int:
    """Replace the forward pass of every RMS norm with 16-bit weights whose output is reproduced to the last bit.

    Returns:
        How many modules were replaced.
    """
    replaced = 0
    for module, weight, epsilon in _rms_norms(model, torch.bfloat16):
        generator = torch.Generator().manual_seed(0)
        x, other = (torch.randn(*shape, generator=generator).to(weight) for shape in ((16, len(weight)), weight.shape))
        # Weights that are all 1 would not show when the output is rounded.
        expected = functional_call(module, {"weight": other}, (x,))
        for gain in get_args(Gain):
            # A GPU's own kernel sums a row in another order.
            if torch.equal(expected, rms_norm(x, other, epsilon, gain, backend="reference")):
                module.narrow_epsilon, module.gain = epsilon, gain
                module.forward = MethodType(_narrow_forward, module)
                replaced += 1
                break
    return replaced

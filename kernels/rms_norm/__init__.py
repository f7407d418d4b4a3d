"""RMS normalisation of 16-bit input, rounded as in the policy, with one pass over memory in each direction."""

from typing import Any, Literal

import torch
from torch import Tensor

from kernels.backend import Backend, uses_triton
from kernels.rms_norm import reference

Gain = Literal["rounded_first", "rounded_last", "offset"]
"""Function from the normalised input u, in float32, to the output: ``w · round(u)`` (Llama), ``round(w · u)`` (OLMo 2)
or ``round((1 + w) · u)`` (Gemma)."""


def rms_norm(x: Tensor, weight: Tensor, epsilon: float, gain: Gain, *, backend: Backend = "auto") -> Tensor:
    """``w · x / sqrt(mean(x²) + ε)`` over the last dimension (arXiv 1910.07467, eq. 4), with gradient.

    Sums are in float32. The backward pass keeps the unchanged input and one number per row.

    Args:
        x: [..., K].
        weight: [K], of the same type.
        epsilon: above 0.
        gain: the step at which the output is rounded to the type.
        backend: see ``kernels.backend``.

    Raises:
        BackendUnavailable: Triton was requested but cannot run here.
        ValueError: the shapes do not fit.
    """
    if not x.ndim or weight.shape != x.shape[-1:]:
        raise ValueError(f"x {tuple(x.shape)} and weight {tuple(weight.shape)} must be [..., K] and [K]")
    found: Tensor = _RMSNorm.apply(x, weight, epsilon, gain, uses_triton(x, backend))
    return found


class _RMSNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, epsilon: float, gain: Gain, triton: bool) -> Tensor:
        ctx.gain, ctx.implementation = gain, _implementation(triton)
        out, scale = ctx.implementation.forward(x, weight, epsilon, gain)
        ctx.save_for_backward(x, scale, weight)
        found: Tensor = out
        return found

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        x, scale, weight = ctx.saved_tensors
        to_x, to_weight = ctx.implementation.backward(slope, x, scale, weight, ctx.gain)
        return to_x, to_weight, None, None, None


def _implementation(triton: bool) -> Any:
    if triton:
        from kernels.rms_norm import triton as compiled

        return compiled
    return reference

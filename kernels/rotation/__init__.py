"""Rotary position embedding of queries or keys. Each number is read and written once.

Source: Su et al., RoFormer (arXiv 2104.09864), eq. 34, with the two halves of a head as the parts of its pairs.
"""

from typing import Any

import torch
from torch import Tensor

from kernels.backend import Backend, uses_triton
from kernels.rotation import reference


def rotate(x: Tensor, cosine: Tensor, sine: Tensor, *, backend: Backend = "auto") -> Tensor:
    """``x · cosine + half(x) · sine`` with ``half([a, b]) = [−b, a]``, with gradient for ``x``.

    In 16 bits, both products are rounded before they are added, as in the policies.

    Args:
        x: [N, H, D] with even D, in any order in memory.
        cosine: [N, D], of the same type; without gradient.
        sine: [N, D].
        backend: see ``kernels.backend``.

    Raises:
        BackendUnavailable: Triton was requested but cannot run here.
        ValueError: the shapes do not fit.
    """
    fits = x.ndim == 3 and x.shape[2] % 2 == 0 and cosine.shape == sine.shape == (x.shape[0], x.shape[2])
    if not fits:
        raise ValueError(
            f"x {tuple(x.shape)}, cosine {tuple(cosine.shape)} and sine {tuple(sine.shape)} must be [N, H, D] with "
            "even D, and twice [N, D]"
        )
    found: Tensor = _Rotation.apply(x, cosine, sine, uses_triton(x, backend))
    return found


class _Rotation(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, cosine: Tensor, sine: Tensor, triton: bool) -> Tensor:
        ctx.implementation = _implementation(triton)
        ctx.save_for_backward(cosine, sine)
        found: Tensor = ctx.implementation.rotated(x, cosine, sine)
        return found

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, None, None, None]:
        cosine, sine = ctx.saved_tensors
        return ctx.implementation.rotated(slope, cosine, sine, back=True), None, None, None


def _implementation(triton: bool) -> Any:
    if triton:
        from kernels.rotation import triton as compiled

        return compiled
    return reference

"""Operations whose result for a row is the same to the last bit for any other rows in the batch.

Libraries choose their order of summation by the number of rows, so a token's log-probability depends on its batch (He
et al., Defeating Nondeterminism in LLM Inference, Thinking Machines 2025). Gradients are computed by the libraries,
because those of weights are sums over the batch in any case.
"""

from typing import Any

import torch
from torch import Tensor

from kernels.backend import Backend, uses_triton
from kernels.batch_invariant import reference


def matmul(left: Tensor, right: Tensor, *, backend: Backend = "auto") -> Tensor:
    """``left @ rightᵀ``, [M, N], with gradient.

    Args:
        left: [M, K].
        right: [N, K], such as a linear layer's weight.
        backend: see ``kernels.backend``.

    Raises:
        BackendUnavailable: Triton was requested but cannot run here.
        ValueError: the shapes do not fit.
    """
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[1]:
        raise ValueError(f"{tuple(left.shape)} and {tuple(right.shape)} must be [M, K] and [N, K]")
    found: Tensor = _Matmul.apply(left, right, uses_triton(left, backend))
    return found


def rms_norm(x: Tensor, weight: Tensor, epsilon: float, *, backend: Backend = "auto") -> Tensor:
    """``weight · x / sqrt(mean(x²) + ε)`` over the last dimension (arXiv 1910.07467, eq. 4), with gradient.

    Args:
        x: [M, K].
        weight: [K].
        epsilon: above 0.
        backend: see ``kernels.backend``.

    Raises:
        BackendUnavailable: Triton was requested but cannot run here.
        ValueError: the shapes do not fit.
    """
    if x.ndim != 2 or weight.shape != x.shape[1:]:
        raise ValueError(f"{tuple(x.shape)} and {tuple(weight.shape)} must be [M, K] and [K]")
    found: Tensor = _BatchInvariantRMSNorm.apply(x, weight, epsilon, uses_triton(x, backend))
    return found


def log_softmax(x: Tensor, *, backend: Backend = "auto") -> Tensor:
    """Natural-log softmax of each row of [M, K], with gradient; −inf has probability 0.

    Raises:
        BackendUnavailable: Triton was requested but cannot run here.
    """
    found: Tensor = _LogSoftmax.apply(x, uses_triton(x, backend))
    return found


def softmax(x: Tensor, *, backend: Backend = "auto") -> Tensor:
    """Softmax of each row of [M, K], with gradient; see ``log_softmax``."""
    return log_softmax(x, backend=backend).exp()


def _implementation(triton: bool) -> Any:
    if triton:
        from kernels.batch_invariant import triton as compiled

        return compiled
    return reference


class _Matmul(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, triton: bool) -> Tensor:
        ctx.triton = triton
        ctx.save_for_backward(left, right)
        found: Tensor = _implementation(triton).matmul(left, right)
        return found

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        left, right = ctx.saved_tensors
        # The library's own products: the weight's gradient is a sum over the batch, so it depends on the batch anyway.
        needs = ctx.needs_input_grad
        return slope @ right if needs[0] else None, slope.T @ left if needs[1] else None, None


class _BatchInvariantRMSNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, epsilon: float, triton: bool) -> Tensor:
        ctx.epsilon = epsilon
        ctx.save_for_backward(x, weight)
        found: Tensor = _implementation(triton).rms_norm(x, weight, epsilon)
        return found

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, Tensor, None, None]:
        x, weight = ctx.saved_tensors
        kind = torch.promote_types(x.dtype, torch.float32)
        wide, flow, factor = x.to(kind), slope.to(kind), weight.to(kind)
        scale = torch.linalg.vector_norm(wide, dim=1, keepdim=True).square_().div_(x.shape[1]).add_(ctx.epsilon)
        unit = wide * scale.rsqrt_()
        along = flow * unit
        # dx = (g·w − u · mean(g·w·u)) / rms, with u the normalised input
        mean = torch.mv(along, factor).div_(-x.shape[1]).unsqueeze(1)
        to_x = (flow * factor).addcmul_(unit, mean).mul_(scale)
        return to_x.to(x.dtype), along.sum(0).to(weight.dtype), None, None


class _LogSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, triton: bool) -> Tensor:
        found: Tensor = _implementation(triton).log_softmax(x)
        ctx.save_for_backward(found)
        return found

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, None]:
        (found,) = ctx.saved_tensors
        return slope - found.exp() * slope.sum(dim=1, keepdim=True), None

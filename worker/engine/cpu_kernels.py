"""Route normalisation on CPU to vLLM's compiled kernels, and keep rotary positions away from a kernel that overruns.

vLLM ships fused RMS-norm kernels in its CPU library but calls them only on GPUs; on CPU it composes six tensor
operations per norm. The kernels agree to 1e-6 and take a third of the time. They are registered through vLLM's own
dispatch, which falls back to the composition if the arguments do not fit.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
import vllm.kernels  # noqa: F401  registers vLLM's own implementations first
from vllm import ir

PROVIDER = "dressage_cpu"
ROTARY_LANES = 8
"""Number of 16-bit values that vLLM's rotary kernel for CPUs reads and writes at a time."""


def _fits(x: torch.Tensor, weight: torch.Tensor | None, variance_size: int | None) -> bool:
    return variance_size is None and weight is not None and weight.dtype == x.dtype


def _norm_fits(x: torch.Tensor, weight: torch.Tensor | None, epsilon: float, variance_size: int | None = None) -> bool:
    return _fits(x, weight, variance_size)


def _add_norm_fits(
    x: torch.Tensor,
    x_residual: torch.Tensor,
    weight: torch.Tensor | None,
    epsilon: float,
    variance_size: int | None = None,
) -> bool:
    return _fits(x, weight, variance_size) and x.is_contiguous() and x_residual.is_contiguous()


def use_compiled_norms() -> dict[str, list[str]]:
    """Register the kernels once per process. Returns vLLM's `ir_op_priority` argument that prefers them."""
    operations = torch.ops._C
    if not (hasattr(operations, "rms_norm") and hasattr(operations, "fused_add_rms_norm")):
        return {}
    if PROVIDER not in ir.ops.rms_norm.impls:

        @ir.ops.rms_norm.register_impl(PROVIDER, supports_args=_norm_fits)
        def rms_norm(
            x: torch.Tensor, weight: torch.Tensor | None, epsilon: float, variance_size: int | None = None
        ) -> torch.Tensor:
            x = x.contiguous()  # query and key norms get views into the fused projection
            output = torch.empty_like(x)
            operations.rms_norm(output, x, weight, epsilon)
            return output

        @ir.ops.fused_add_rms_norm.register_impl(PROVIDER, supports_args=_add_norm_fits, inplace=True)
        def fused_add_rms_norm(
            x: torch.Tensor,
            x_residual: torch.Tensor,
            weight: torch.Tensor | None,
            epsilon: float,
            variance_size: int | None = None,
        ) -> tuple[torch.Tensor, torch.Tensor]:
            operations.fused_add_rms_norm(x, x_residual, weight, epsilon)
            return x, x_residual

    return {"rms_norm": [PROVIDER], "fused_add_rms_norm": [PROVIDER]}


def rotate_safely_in_torch() -> None:
    """Use vLLM's own composition for rotations that its compiled CPU kernel gets wrong. May be called repeatedly.

    Two cases go wrong. For queries with a head axis, [N, H, D], as in latent attention with expanded heads, the kernel
    mistakes the stride of heads for that of tokens and silently rotates the wrong numbers. For 16-bit numbers whose
    rotated pairs are not a multiple of its lanes, such as 36 for three quarters of a head of 96, it writes past the end
    and the process ends with a segmentation fault.
    """
    from vllm.model_executor.layers.rotary_embedding.base import RotaryEmbedding

    compiled = RotaryEmbedding.forward_cpu
    if getattr(compiled, "by_dressage", False):
        return

    def forward_cpu(
        self: Any, positions: torch.Tensor, query: torch.Tensor, key: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        overruns = query.element_size() < 4 and self.rotary_dim // 2 % ROTARY_LANES != 0
        rotate = self.forward_native if overruns or query.ndim > 2 else partial(compiled, self)
        rotated: tuple[torch.Tensor, torch.Tensor | None] = rotate(positions, query, key)
        return rotated

    forward_cpu.by_dressage = True  # type: ignore[attr-defined]
    RotaryEmbedding.forward_cpu = forward_cpu

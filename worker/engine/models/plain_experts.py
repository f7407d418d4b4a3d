"""Experts of vLLM's mixtures in plain torch, for sizes and settings that its CPU kernel does not support."""

from __future__ import annotations

from typing import Any

import torch
from vllm.model_executor.layers.fused_moe.activation import MoEActivation
from vllm.model_executor.layers.fused_moe.config import FusedMoEConfig
from vllm.model_executor.layers.fused_moe.experts.cpu_moe import CPUUnquantizedExperts
from vllm.model_executor.layers.fused_moe.oracle import unquantized
from vllm.model_executor.layers.fused_moe.oracle.unquantized import UnquantizedMoeBackend

from trainer_core.update.formats.quantise import Scales, rounded_activations
from worker.engine.fp8 import ROUNDED

SWIGLU_ALPHA, SWIGLU_LIMIT = 1.702, 7.0
"""Parameters of GPT-OSS' activation, as in its published policies."""


class PlainExperts(CPUUnquantizedExperts):
    """Two matrix products for each expert that has tokens. The weights stay as they were loaded."""

    _rounded: Scales | None = None
    """Scales of the FP8 numbers that states are rounded to before a product; None if FP8 is not simulated."""

    @classmethod
    def _supports_grouped_gemm(cls, moe_config: FusedMoEConfig) -> tuple[bool, str | None]:
        return True, None

    def process_weights_after_loading(self, layer: torch.nn.Module) -> None:
        """Pack nothing. Store the scales that round activations if FP8 is simulated."""
        self._rounded = getattr(layer, ROUNDED, None)

    def apply(
        self,
        output: torch.Tensor,
        hidden_states: torch.Tensor,
        w1: torch.Tensor,
        w2: torch.Tensor,
        topk_weights: torch.Tensor,
        topk_ids: torch.Tensor,
        activation: MoEActivation,
        apply_router_weight_on_input: bool = False,
        **_: Any,
    ) -> None:
        """Write the output [N, H] for states [N, H] that go to experts [N, K] with weights [N, K]."""
        weights = torch.ones_like(topk_weights) if apply_router_weight_on_input else topk_weights
        summed = torch.zeros(output.shape, dtype=torch.float32)
        order = topk_ids.flatten().argsort(stable=True)
        counts = topk_ids.flatten().bincount(minlength=len(w1)).tolist()
        for expert, chosen in enumerate(order.split(counts)):
            if not len(chosen):
                continue
            rows = chosen // topk_ids.shape[1]
            states = self._read(hidden_states[rows])
            both = torch.nn.functional.linear(states, w1[expert], _of(self.w1_bias, expert))
            gated = self._read(_gated(both, activation))
            found = torch.nn.functional.linear(gated, w2[expert], _of(self.w2_bias, expert))
            summed.index_add_(0, rows, found.float() * weights.flatten()[chosen, None])
        output.copy_(summed)

    def _read(self, states: torch.Tensor) -> torch.Tensor:
        """States as a matrix product reads them, rounded if FP8 is simulated."""
        return states if self._rounded is None else rounded_activations(states, self._rounded)


def _of(bias: torch.Tensor | None, expert: int) -> torch.Tensor | None:
    return None if bias is None else bias[expert]


def _gated(both: torch.Tensor, activation: MoEActivation) -> torch.Tensor:
    if activation == MoEActivation.SWIGLUOAI:
        gate, up = both[..., ::2].clamp(max=SWIGLU_LIMIT), both[..., 1::2].clamp(-SWIGLU_LIMIT, SWIGLU_LIMIT)
        return (up + 1) * gate * torch.sigmoid(gate * SWIGLU_ALPHA)
    gate, up = both.chunk(2, dim=-1)
    match activation:
        case MoEActivation.GELU:
            return torch.nn.functional.gelu(gate) * up
        case MoEActivation.GELU_TANH:
            return torch.nn.functional.gelu(gate, approximate="tanh") * up
    return torch.nn.functional.silu(gate) * up


def use_plain_experts(*, always: bool) -> None:
    """Make vLLM choose these experts if none of its own CPU kernels fits. May be called repeatedly.

    ``always``: the next engine uses them even if a kernel fits, as for FP8, which vLLM's kernels cannot simulate.
    """
    choices = unquantized.backend_to_kernel_cls
    own: Any = getattr(choices, "own", choices)

    def with_plain(backend: UnquantizedMoeBackend) -> list[Any]:
        if backend != UnquantizedMoeBackend.CPU:
            found: list[Any] = own(backend)
            return found
        return [PlainExperts] if always else [*own(backend), PlainExperts]

    with_plain.own = own  # type: ignore[attr-defined]
    unquantized.backend_to_kernel_cls = with_plain

"""Mixtures of experts that vLLM itself runs: their layers packed with every update, and computed where it cannot."""

from __future__ import annotations

import torch
from vllm.model_executor.layers.fused_moe.oracle.unquantized import UnquantizedMoeBackend
from vllm.model_executor.layers.fused_moe.unquantized_fused_moe_method import UnquantizedFusedMoEMethod


def forget_packed_experts(model: torch.nn.Module) -> None:
    """Let expert layers on a CPU be packed by the next ``process_weights_after_loading`` as by the first.

    vLLM 0.32 packs them for its CPU kernel only where the layer has no kernel yet: after an update the kernel would
    read plain weights as packed ones, which gives other numbers without an error.
    """
    for module in model.modules():
        method = getattr(module, "quant_method", None)
        if isinstance(method, UnquantizedFusedMoEMethod) and method.unquantized_backend == UnquantizedMoeBackend.CPU:
            method.moe_kernel = None

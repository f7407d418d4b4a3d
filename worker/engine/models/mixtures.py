"""Mixtures of experts that vLLM itself runs, adjusted to compute what transformers computes, with every update."""

from __future__ import annotations

from typing import Any

import torch
from vllm.model_executor.layers.fused_moe.oracle.unquantized import UnquantizedMoeBackend
from vllm.model_executor.layers.fused_moe.unquantized_fused_moe_method import UnquantizedFusedMoEMethod
from vllm.model_executor.layers.layernorm import RMSNorm
from vllm.model_executor.layers.vocab_parallel_embedding import ParallelLMHead, VocabParallelEmbedding
from vllm.model_executor.models.utils import get_spec_layer_idx_from_weight_name

LATENT_EPSILON = 1e-6
"""Epsilon of the norms after latent projections in transformers, which ignores the configured one."""


def follow_transformers(model: torch.nn.Module, config: Any) -> None:
    """Apply ``config`` values that vLLM's class of this model hard-codes. Call this before weights are loaded."""
    if config.model_type == "gpt_oss":
        _set_epsilon(model, "", config.rms_norm_eps)
    if config.model_type in ("deepseek_v2", "deepseek_v3"):
        _set_epsilon(model, "a_layernorm", LATENT_EPSILON)
    if getattr(config, "tie_word_embeddings", False):
        _tie_head(model)


def predicts_further_tokens(name: str, config: Any) -> bool:
    """Whether a file's tensor belongs to a layer after the last, which neither transformers nor this engine loads."""
    return get_spec_layer_idx_from_weight_name(config, name) is not None


def forget_packed_experts(model: torch.nn.Module) -> None:
    """Make the next ``process_weights_after_loading`` pack expert layers on a CPU as the first one did.

    vLLM 0.32 packs them for its CPU kernel only if the layer has no kernel yet. After an update the kernel would read
    plain weights as packed ones and silently give wrong numbers.
    """
    for module in model.modules():
        method = getattr(module, "quant_method", None)
        if isinstance(method, UnquantizedFusedMoEMethod) and method.unquantized_backend == UnquantizedMoeBackend.CPU:
            method.moe_kernel = None


def _set_epsilon(model: torch.nn.Module, suffix: str, epsilon: float) -> None:
    for name, module in model.named_modules():
        if isinstance(module, RMSNorm) and name.endswith(suffix):
            module.variance_epsilon = epsilon


def _tie_head(model: torch.nn.Module) -> None:
    """Tie the head to the embedding: some vLLM classes do not support tied policies and compute with random numbers."""
    head = getattr(model, "lm_head", None)
    found = [module for module in model.modules() if type(module) is VocabParallelEmbedding]
    if isinstance(head, ParallelLMHead) and len(found) == 1 and head.weight is not found[0].weight:
        head.tie_weights(found[0])

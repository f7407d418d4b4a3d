"""Policies that vLLM itself does not run, as models registered with it in the engine's process."""

from __future__ import annotations

from typing import Any

HYBRID = "MiniMaxForCausalLM"
"""MiniMax-Text-01 and MiniMax-M1 in transformers' format, which vLLM has dropped in version 0.23."""


def register_own(architectures: list[str]) -> None:
    """Make vLLM know the classes here among ``architectures``. Call before the engine is configured."""
    if HYBRID not in architectures:
        return
    from vllm.model_executor.models import ModelRegistry
    from vllm.model_executor.models.config import MODELS_CONFIG_MAP, HybridAttentionMambaModelConfig

    from worker.engine.models.minimax import MiniMaxForCausalLM

    ModelRegistry.register_model(HYBRID, MiniMaxForCausalLM)
    MODELS_CONFIG_MAP.setdefault(HYBRID, HybridAttentionMambaModelConfig)


def engine_options(architectures: list[str]) -> dict[str, Any]:
    """vLLM's engine arguments that these architectures need."""
    # A block of cached keys and values is worth nothing without the state of the recurrent layers at its end, and
    # routes that router replay needs are told only for tokens that are computed.
    return {"enable_prefix_caching": False} if HYBRID in architectures else {}

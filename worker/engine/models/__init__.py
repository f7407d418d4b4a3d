"""Policies that vLLM itself does not run, as models registered with it in the engine's process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

HYBRID = "MiniMaxForCausalLM"
"""MiniMax-Text-01 and MiniMax-M1 in transformers' format, which vLLM dropped in version 0.23."""


def register_own(architectures: list[str]) -> None:
    """Register the classes in this package that ``architectures`` names. Call this before the engine is configured."""
    if HYBRID not in architectures:
        return
    from vllm.model_executor.models import ModelRegistry
    from vllm.model_executor.models.config import MODELS_CONFIG_MAP, HybridAttentionMambaModelConfig

    from worker.engine.models.minimax import MiniMaxForCausalLM

    ModelRegistry.register_model(HYBRID, MiniMaxForCausalLM)
    MODELS_CONFIG_MAP.setdefault(HYBRID, HybridAttentionMambaModelConfig)


def engine_options(hf_config: Mapping[str, Any], *, routes: bool) -> dict[str, Any]:
    """vLLM engine arguments for a policy with this ``config.json``, with or without ``routes``."""
    options: dict[str, Any] = {}
    if routes or HYBRID in (hf_config.get("architectures") or []):
        # A block of cached keys and values is useless without the state of the recurrent layers at its end. And the
        # routes that router replay needs exist only for tokens that are computed.
        options["enable_prefix_caching"] = False
    if overrides := routing_of_transformers(hf_config):
        options["hf_overrides"] = overrides
    return options


def routing_of_transformers(hf_config: Mapping[str, Any]) -> dict[str, Any]:
    """DeepSeek configuration entries that make vLLM route as transformers does.

    transformers hard-codes what the published files have in their configuration, and does not write it to a file; vLLM
    reads only the file. vLLM also groups experts, or renormalises, in cases where transformers does not.
    """
    match hf_config.get("model_type"):
        case "deepseek_v2":
            grouped = hf_config.get("topk_method", "greedy") == "group_limited_greedy"
            return {"norm_topk_prob": False} | ({} if grouped else {"n_group": 1, "topk_group": 1})
        case "deepseek_v3":
            return {"topk_method": "noaux_tc", "scoring_func": "sigmoid"}
    return {}

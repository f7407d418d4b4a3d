"""Preparation of a process in which vLLM holds a model: the engine's own, or each of an engine of several devices."""

from __future__ import annotations

import os
from collections.abc import Sequence


def prepare_process(architectures: Sequence[str], *, always_plain: bool, threads: int) -> dict[str, list[str]]:
    """Have vLLM know our models and compute as the adapter needs it, before any model is built.

    Args:
        architectures: the policy's model classes.
        always_plain: whether experts are computed without a kernel for CPUs, as simulated FP8 needs it.
        threads: the engine's share of a CPU.

    Returns:
        Priorities of vLLM's operations, for its configuration.
    """
    import torch
    from vllm.platforms import current_platform

    from worker.engine.models import register_own

    register_own(list(architectures))
    _register_architectures(architectures)
    _forget_rotary_tables()
    if not current_platform.is_cpu():
        return {}
    from worker.engine.cpu_kernels import rotate_safely_in_torch, use_compiled_norms
    from worker.engine.models.plain_experts import use_plain_experts

    priorities = use_compiled_norms()
    rotate_safely_in_torch()
    use_plain_experts(always=always_plain)
    # vLLM's latent attention on CPUs knows one head size and no chunks; expanded heads are ordinary attention.
    os.environ["VLLM_MLA_DISABLE"] = "1"
    _call_uncompiled_count()
    torch.set_num_threads(threads)
    return priorities


def _register_architectures(architectures: Sequence[str]) -> None:
    """Import the model class here; vLLM would otherwise start a second Python to inspect it (8 s when not cached)."""
    from vllm.model_executor.models import ModelRegistry
    from vllm.model_executor.models.registry import _LazyRegisteredModel

    for architecture in architectures:
        known = ModelRegistry.models.get(architecture)
        if isinstance(known, _LazyRegisteredModel):
            ModelRegistry.register_model(architecture, known.load_model_cls())


def _forget_rotary_tables() -> None:
    """Let an engine make its own: in 16 bits it rounds them in place, and an engine in float32 would find them so."""
    from vllm.model_executor.layers import rotary_embedding

    rotary_embedding._ROPE_DICT.clear()


def _call_uncompiled_count() -> None:
    """Rank counting is one comparison and a sum; compiling it on CPU takes 17 s and gains nothing."""
    from vllm.v1.sample import sampler
    from vllm.v1.sample.ops import logprobs

    original = getattr(logprobs.batched_count_greater_than, "_torchdynamo_orig_callable", None)
    if original is not None:
        logprobs.batched_count_greater_than = original
        sampler.batched_count_greater_than = original

"""Preparation of a process in which vLLM runs a model: the engine's own, or each process of a multi-device engine."""

from __future__ import annotations

import os
from collections.abc import Sequence


def prepare_process(architectures: Sequence[str], *, always_plain: bool, threads: int) -> dict[str, list[str]]:
    """Register our models with vLLM and make it compute as the adapter needs. Call this before any model is built.

    Args:
        architectures: the policy's model classes.
        always_plain: whether experts never use a CPU kernel, as simulated FP8 requires.
        threads: number of threads the engine may use.

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
    # vLLM's latent attention on CPUs supports only one head size and no chunks; expanded heads use ordinary attention.
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
    """Make each engine build its own tables: a 16-bit engine rounds them in place, which float32 must not reuse."""
    from vllm.model_executor.layers import rotary_embedding

    rotary_embedding._ROPE_DICT.clear()


def _call_uncompiled_count() -> None:
    """Rank counting is one comparison and a sum. Compiling it on CPU takes 17 s and gains nothing."""
    from vllm.v1.sample import sampler
    from vllm.v1.sample.ops import logprobs

    original = getattr(logprobs.batched_count_greater_than, "_torchdynamo_orig_callable", None)
    if original is not None:
        logprobs.batched_count_greater_than = original
        sampler.batched_count_greater_than = original

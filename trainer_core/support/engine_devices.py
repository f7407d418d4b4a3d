"""Reasons why a policy cannot be split over the devices of an engine as the spec requests, each with a remedy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainer_core.spec.generation.rollout import Engine
from trainer_core.support.architectures import Support, support_of

Path = tuple[str | int, ...]
_TENSOR: Path = ("rollout", "engine", "tensor_parallel_size")
_PIPELINE: Path = ("rollout", "engine", "pipeline_parallel_size")
_EXPERTS: Path = ("rollout", "engine", "expert_parallel")
_MOST = 64
"""Largest size that the spec allows."""
_VOCABULARY_STEP = 64
"""Engines pad vocabularies to a multiple of this before they split them."""


def of_devices(config: Mapping[str, Any], engine: Engine) -> Iterator[tuple[Path, str]]:
    """Fields of ``engine``, each with a sentence that says why the policy of ``config`` cannot be split that way."""
    known = support_of(config)
    if engine.expert_parallel and not _has_experts(config, known):
        yield _EXPERTS, "The policy has no experts to distribute: set rollout.engine.expert_parallel to false."
    if engine.tensor_parallel_size > 1:
        yield from _of_tensors(config, engine, known)
    layers = _count(config, "num_hidden_layers")
    if engine.pipeline_parallel_size > 1:
        if known is not None and not known.pipelines:
            yield (
                _PIPELINE,
                f"The engine cannot split {known.title} into stages: set rollout.engine.pipeline_parallel_size to 1.",
            )
        elif layers is not None and layers < engine.pipeline_parallel_size:
            yield (
                _PIPELINE,
                f"The policy has {layers} layers, and {engine.pipeline_parallel_size} stages are requested: set"
                f" rollout.engine.pipeline_parallel_size to {layers} or less.",
            )


def _of_tensors(config: Mapping[str, Any], engine: Engine, known: Support | None) -> Iterator[tuple[Path, str]]:
    if known is not None and not known.tensor_parallel:
        yield _TENSOR, f"The engine cannot split {known.title}: set rollout.engine.tensor_parallel_size to 1."
        return
    wrong = _first_uneven(config, engine, engine.tensor_parallel_size)
    if wrong is not None:
        fitting = [size for size in range(1, _MOST + 1) if _first_uneven(config, engine, size) is None]
        sizes = str(fitting[0]) if len(fitting) == 1 else f"{', '.join(map(str, fitting[:-1]))} or {fitting[-1]}"
        yield (
            _TENSOR,
            f"{engine.tensor_parallel_size} devices cannot split {wrong}: set rollout.engine.tensor_parallel_size to"
            f" {sizes}.",
        )


def _first_uneven(config: Mapping[str, Any], engine: Engine, devices: int) -> str | None:
    """First of the policy's sizes that ``devices`` cannot split evenly; None if they can split all."""
    heads = _count(config, "num_attention_heads")
    if heads is not None and heads % devices:
        return f"{heads} attention heads evenly"
    keys = _count(config, "num_key_value_heads") or heads
    # If there are more devices than these heads, several hold the same one.
    if keys is not None and keys % devices and devices % keys and not config.get("kv_lora_rank"):
        return f"{keys} key-value heads evenly"
    for name in ("intermediate_size", "shared_expert_intermediate_size", "moe_intermediate_size"):
        inner = _count(config, name)
        whole = name == "moe_intermediate_size" and engine.expert_parallel
        if inner and inner % devices and not whole:
            return f"{inner} values ({name}) evenly"
    words = _count(config, "vocab_size")
    if words is not None and -(-words // _VOCABULARY_STEP) * _VOCABULARY_STEP % devices:
        return f"a vocabulary of {words} tokens, padded to a multiple of {_VOCABULARY_STEP}, evenly"
    return None


def _has_experts(config: Mapping[str, Any], known: Support | None) -> bool:
    if known is not None:
        return known.experts
    return any(_count(config, name) for name in ("num_experts", "num_local_experts", "n_routed_experts"))


def _count(config: Mapping[str, Any], name: str) -> int | None:
    text = config.get("text_config")
    found = (text if isinstance(text, Mapping) else config).get(name)
    return found if type(found) is int else None

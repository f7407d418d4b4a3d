"""Tiny mixtures of experts, and what transformers' own forward pass says about their tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForCausalLM, MixtralConfig, PreTrainedModel, Qwen3MoeConfig

from trainer_core.update.model.naming import as_in_files
from trainer_core.update.model.policy import load_policy

VOCABULARY = 96
SHARED: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "max_position_embeddings": 512,
    "initializer_range": 0.2,  # wide, so that distributions are far from uniform and differences show
    "bos_token_id": None,
    "eos_token_id": 1,
    "pad_token_id": 0,
}


def config_of(name: str, **other: Any) -> Any:
    """The configuration of a tiny policy of the architecture with this name in transformers."""
    shared = SHARED | other
    match name:
        case "qwen3_moe":
            # 48 is no multiple of the kernel's 32: its weights are padded when they are packed.
            sizes = {"moe_intermediate_size": 48, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32}
            return Qwen3MoeConfig(**sizes, num_experts=8, num_experts_per_tok=2, norm_topk_prob=True, **shared)
        case "mixtral":
            return MixtralConfig(
                num_attention_heads=2, num_key_value_heads=1, num_local_experts=4, num_experts_per_tok=2, **shared
            )
    raise ValueError(name)


def make_mixture(name: str, folder: Path, *, seed: int, **other: Any) -> PreTrainedModel:
    """A policy with random weights, norms and biases included, saved to ``folder``."""
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(config_of(name, **other)).eval()
    with torch.no_grad():
        for parameter_name, parameter in model.named_parameters():
            if parameter.ndim == 1 or parameter_name.endswith("bias"):
                parameter.add_(torch.randn_like(parameter) * 0.1)
        for _, buffer in model.named_buffers():
            if buffer.ndim == 1 and len(buffer) == getattr(model.config, "n_routed_experts", None):
                buffer.add_(torch.randn_like(buffer) * 0.1)
    model.save_pretrained(folder)
    return model


def files(folder: Path) -> dict[str, np.ndarray]:
    """The weights of a folder as a learner that has loaded it sends them."""
    model = load_policy(folder)
    weights = as_in_files(model, {name: p.detach() for name, p in model.named_parameters()})
    return {name: tensor.numpy() for name, tensor in weights.items()}


def drawn(sizes: list[int], seed: int = 1) -> list[list[int]]:
    """Random token sequences."""
    rng = np.random.default_rng(seed)
    return [rng.integers(2, VOCABULARY, size).tolist() for size in sizes]


@torch.no_grad()
def own_logprobs(model: PreTrainedModel, sequence: list[int]) -> torch.Tensor:
    """Log-probability of each token but the first by transformers' forward pass over that sequence alone."""
    logits = model(torch.tensor([sequence]), use_cache=False).logits[0, :-1].double()
    return logits.log_softmax(dim=-1).gather(1, torch.tensor(sequence[1:])[:, None])[:, 0]


def largest_difference(found: list[list[float]], expected: list[torch.Tensor]) -> float:
    """Over all tokens, in nats."""
    pairs = zip(found, expected, strict=True)
    return max(float((torch.tensor(mine, dtype=torch.float64) - theirs).abs().max()) for mine, theirs in pairs)

"""Tiny policies for the engine tests, and what a plain Hugging Face forward says about them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from worker.engine import EngineConfig, InferenceEngine, ThinkTokens

VOCAB = 60
EOS = 1
THINK = ThinkTokens(start_ids=(50, 51), end_ids=(52, 53), forced_end_ids=(52, 53, 54))


def make_policy(path: Path, *, tied: bool) -> Qwen3ForCausalLM:
    """A random Qwen3 of 0.8 M parameters, saved to `path`."""
    torch.manual_seed(7)
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=VOCAB,
            hidden_size=128,
            intermediate_size=384,
            num_hidden_layers=4,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=32,
            max_position_embeddings=512,
            tie_word_embeddings=tied,
            initializer_range=0.2,  # wide, so that distributions are far from uniform and differences show
            bos_token_id=None,
            eos_token_id=EOS,
            pad_token_id=0,
        )
    ).eval()
    model.save_pretrained(path)
    return model


def start(path: Path, *, kv_cache_gib: float = 0.05, **options: Any) -> InferenceEngine:
    return InferenceEngine(
        EngineConfig(
            model_dir=str(path),
            max_model_len=256,
            max_num_seqs=32,
            max_num_batched_tokens=512,
            kv_cache_gib=kv_cache_gib,
            think=THINK,
            **options,
        )
    )


def state(model: Qwen3ForCausalLM) -> dict[str, np.ndarray]:
    """Checkpoint names to arrays, as the learner sends them (a tied head is not repeated)."""
    tied = model.config.tie_word_embeddings
    return {
        name: tensor.detach().numpy().copy()
        for name, tensor in model.state_dict().items()
        if not (tied and name == "lm_head.weight")
    }


def perturbed(model: Qwen3ForCausalLM, seed: int = 0) -> Qwen3ForCausalLM:
    """A copy of `model` with every weight moved."""
    generator = torch.Generator().manual_seed(seed)
    other = Qwen3ForCausalLM(model.config).eval()
    other.load_state_dict(model.state_dict())
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.05)
    return other


@torch.no_grad()
def reference_logprobs(model: Qwen3ForCausalLM, sequence: list[int], temperature: float = 1.0) -> list[float]:
    """Log-probability of each token given its prefix by a plain forward pass. Length n - 1."""
    logits = model(torch.tensor([sequence])).logits[0, :-1].double() / temperature
    return torch.log_softmax(logits, dim=-1).gather(1, torch.tensor(sequence[1:])[:, None])[:, 0].tolist()

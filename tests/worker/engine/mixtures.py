"""Tiny mixtures of experts, and what transformers' own forward pass says about their tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from trainer_core.starter.architectures import make_tiny
from trainer_core.update.hybrid.router import BIAS
from trainer_core.update.model.naming import as_in_files
from trainer_core.update.model.policy import load_policy


def make_mixture(name: str, folder: Path, *, seed: int, **settings: Any) -> PreTrainedModel:
    """A tiny policy with random weights, norms and biases included, saved to ``folder``.

    Args:
        name: architecture.
        folder: an empty folder.
        seed: another one gives wholly other weights.
        settings: members of the configuration that differ from the usual tiny policy's.
    """
    make_tiny(name, folder, seed=seed)
    if not settings:
        return AutoModelForCausalLM.from_pretrained(folder).eval()
    config = AutoConfig.from_pretrained(folder)
    for member, value in settings.items():
        setattr(config, member, value)
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.1 + (parameter if parameter.ndim == 1 else 0))
        for buffer_name, buffer in model.named_buffers():
            if buffer_name.endswith(BIAS):
                buffer.normal_(std=0.1)
    for path in folder.glob("*.safetensors"):
        path.unlink()
    model.save_pretrained(folder)
    return model


def files(folder: Path) -> dict[str, np.ndarray]:
    """The weights of a folder as a learner that has loaded it sends them."""
    model = load_policy(folder)
    weights = as_in_files(model, {name: p.detach() for name, p in model.named_parameters()})
    return {name: tensor.numpy() for name, tensor in weights.items()}


def drawn(sizes: list[int], vocabulary: int = 256, seed: int = 1) -> list[list[int]]:
    """Random token sequences."""
    rng = np.random.default_rng(seed)
    return [rng.integers(2, vocabulary, size).tolist() for size in sizes]


@torch.no_grad()
def own_logprobs(model: PreTrainedModel, sequence: list[int]) -> torch.Tensor:
    """Log-probability of each token but the first by transformers' forward pass over that sequence alone."""
    logits = model(torch.tensor([sequence]), use_cache=False).logits[0, :-1].double()
    return logits.log_softmax(dim=-1).gather(1, torch.tensor(sequence[1:])[:, None])[:, 0]


def largest_difference(found: list[list[float]], expected: list[torch.Tensor]) -> float:
    """Over all tokens, in nats."""
    pairs = zip(found, expected, strict=True)
    return max(float((torch.tensor(mine, dtype=torch.float64) - theirs).abs().max()) for mine, theirs in pairs)

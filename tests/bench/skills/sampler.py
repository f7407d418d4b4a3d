"""A sampler of small Qwen3 policies with a cache of keys and values: what the rollout engine does, in this process.

The broken methods need hundreds of short runs, exactly the same but for one line; an engine of its own would make
them slow and, being asynchronous, different each time. The learner's packed forward pass gives the same
log-probabilities to rounding (a test compares them).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import linear, silu
from transformers import PretrainedConfig


@dataclass(frozen=True, slots=True)
class Sampled:
    """One completion."""

    tokens: NDArray[np.int32]
    """The end of sequence included, where it was reached."""
    logprobs: NDArray[np.float32]
    ended: bool


class Sampler:
    """Samples at temperature 1."""

    def __init__(self, config: PretrainedConfig, weights: Mapping[str, NDArray[np.float32]]) -> None:
        """``weights`` under their Hugging Face names; a tied head once."""
        self._config = config
        self._weights = {name: torch.from_numpy(np.asarray(values)) for name, values in weights.items()}
        half = config.head_dim // 2
        self._frequencies = config.rope_parameters["rope_theta"] ** (-torch.arange(half) / half)

    @torch.inference_mode()
    def sample(self, prompts: Sequence[Sequence[int]], most: int, generator: torch.Generator) -> list[Sampled]:
        """One completion of at most ``most`` tokens to each prompt, in order."""
        config, count = self._config, len(prompts)
        longest = max(map(len, prompts))
        ids = torch.zeros(count, longest, dtype=torch.int64)
        pad = torch.tensor([longest - len(prompt) for prompt in prompts])
        for row, prompt in enumerate(prompts):
            ids[row, longest - len(prompt) :] = torch.tensor(prompt)
        shape = (config.num_hidden_layers, 2, count, config.num_key_value_heads, longest + most, config.head_dim)
        cache = torch.zeros(shape)
        alive = torch.arange(count)
        tokens = torch.zeros(count, most, dtype=torch.int64)
        logprobs = torch.zeros(count, most)
        lengths = torch.full((count,), most)
        ended = torch.zeros(count, dtype=torch.bool)
        hidden = self._forward(ids, pad, cache, 0)
        for index in range(most):
            scores = torch.log_softmax(linear(hidden, self._weights["model.embed_tokens.weight"]), -1)
            # Gumbel's trick draws from the distribution in one pass.
            noise = -torch.empty_like(scores).exponential_(generator=generator).log()
            chosen = (scores + noise).argmax(-1)
            tokens[alive, index] = chosen
            logprobs[alive, index] = scores.gather(1, chosen[:, None])[:, 0]
            done = chosen == config.eos_token_id
            lengths[alive[done]] = index + 1
            ended[alive[done]] = True
            if bool(done.any()):
                keep = ~done
                alive, chosen, pad, cache = alive[keep], chosen[keep], pad[keep], cache[:, :, keep]
            if not len(alive) or index + 1 == most:
                break
            hidden = self._forward(chosen[:, None], pad, cache, longest + index)
        return [
            Sampled(tokens[row, :n].numpy().astype(np.int32), logprobs[row, :n].numpy(), bool(ended[row]))
            for row, n in enumerate(lengths.tolist())
        ]

    def _forward(self, ids: Tensor, pad: Tensor, cache: Tensor, start: int) -> Tensor:
        """The last position's state [B, H] after reading ``ids`` [B, T] at ``start``; writes into the cache."""
        config, weights = self._config, self._weights
        count, width = ids.shape
        stop = start + width
        heads, shared, size = config.num_attention_heads, config.num_key_value_heads, config.head_dim
        place = torch.arange(start, stop)
        angles = (place - pad[:, None]).clamp(min=0)[..., None] * self._frequencies
        cos, sin = angles.cos()[:, None], angles.sin()[:, None]
        seen = (torch.arange(stop) >= pad[:, None])[:, None, None] & (torch.arange(stop) <= place[:, None])
        # A row of padding sees itself, so that no softmax is empty.
        seen = seen | (torch.arange(stop) == place[:, None])
        state = weights["model.embed_tokens.weight"][ids]
        for layer in range(config.num_hidden_layers):
            name = f"model.layers.{layer}."
            inner = self._norm(state, name + "input_layernorm.weight")

            def project(part: str, number: int, inner: Tensor = inner, name: str = name) -> Tensor:
                values = linear(inner, weights[f"{name}self_attn.{part}_proj.weight"])
                return values.view(count, width, number, size).transpose(1, 2)

            query = _rotate(self._norm(project("q", heads), name + "self_attn.q_norm.weight"), cos, sin)
            cache[layer, 0, :, :, start:stop] = _rotate(
                self._norm(project("k", shared), name + "self_attn.k_norm.weight"), cos, sin
            )
            cache[layer, 1, :, :, start:stop] = project("v", shared)
            mixed = torch.nn.functional.scaled_dot_product_attention(
                query, cache[layer, 0, :, :, :stop], cache[layer, 1, :, :, :stop], attn_mask=seen, enable_gqa=True
            )
            state = state + linear(mixed.transpose(1, 2).flatten(2), weights[name + "self_attn.o_proj.weight"])
            inner = self._norm(state, name + "post_attention_layernorm.weight")
            gate = silu(linear(inner, weights[name + "mlp.gate_proj.weight"]))
            up = linear(inner, weights[name + "mlp.up_proj.weight"])
            state = state + linear(gate * up, weights[name + "mlp.down_proj.weight"])
        return self._norm(state[:, -1], "model.norm.weight")

    def _norm(self, values: Tensor, name: str) -> Tensor:
        scale = (values.square().mean(-1, keepdim=True) + self._config.rms_norm_eps).rsqrt()
        return values * scale * self._weights[name]


def _rotate(values: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = values.chunk(2, -1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)

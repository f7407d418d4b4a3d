"""Lightning attention as a vLLM layer: a state per request in vLLM's cache, advanced by our kernel.

The state is float32 regardless of the model's number type. It has its own cache block, which vLLM frees and reuses but
never clears. So a request's first tokens start from zero, not from the block's contents.
"""

from __future__ import annotations

import torch
from torch import nn
from transformers import MiniMaxConfig
from vllm.config import VllmConfig
from vllm.forward_context import get_forward_context
from vllm.model_executor.layers.layernorm import RMSNorm
from vllm.model_executor.layers.linear import ReplicatedLinear
from vllm.model_executor.layers.mamba.abstract import MambaBase
from vllm.model_executor.models.utils import extract_layer_index
from vllm.v1.attention.backends.linear_attn import LinearAttentionMetadata
from vllm.v1.attention.backends.registry import MambaAttentionBackendEnum

from kernels.lightning_attention import decode_step, lightning_attention

NORM_EPSILON = 1e-6
"""Epsilon of the norm after the scan, as in transformers. The policy's other norms use the configured epsilon."""


def state_shape(config: MiniMaxConfig) -> tuple[int, int, int]:
    """Heads, key size, value size."""
    size = config.head_dim or config.hidden_size // config.num_attention_heads
    return config.num_attention_heads, size, size


def slopes(config: MiniMaxConfig, layer: int) -> torch.Tensor:
    """Decay of each head per token, float32 [H]; bit-identical to transformers."""
    heads = config.num_attention_heads
    base = 1 / (2 ** (8 / heads))
    factor = 1 - layer / (config.num_hidden_layers - 1 + 1e-5) + 1e-5
    return base ** (torch.arange(heads) + 1) * factor


class LightningAttention(nn.Module, MambaBase):
    """One layer. ``prefix`` is its name among vLLM's cached layers."""

    def __init__(self, config: MiniMaxConfig, vllm_config: VllmConfig, prefix: str) -> None:
        super().__init__()
        self.prefix = prefix
        self._shape = state_shape(config)
        heads, size, _ = self._shape
        inner = heads * size
        self.qkv_proj = ReplicatedLinear(config.hidden_size, 3 * inner, bias=False, prefix=f"{prefix}.qkv_proj")
        self.output_gate = ReplicatedLinear(config.hidden_size, inner, bias=False, prefix=f"{prefix}.output_gate")
        self.out_proj = ReplicatedLinear(inner, config.hidden_size, bias=False, prefix=f"{prefix}.out_proj")
        self.norm = RMSNorm(inner, eps=NORM_EPSILON)
        decay = slopes(config, extract_layer_index(prefix)).to(vllm_config.device_config.device_type)
        self.slopes: torch.Tensor
        self.kv_cache: tuple[torch.Tensor, ...]
        self.register_buffer("slopes", decay, persistent=False)
        layers = vllm_config.compilation_config.static_forward_context
        if prefix in layers:
            raise ValueError(f"two layers are called {prefix}")
        layers[prefix] = self

    @property
    def mamba_type(self) -> MambaAttentionBackendEnum:
        return MambaAttentionBackendEnum.LINEAR

    def get_state_shape(self) -> tuple[tuple[int, int, int]]:
        return (self._shape,)

    def get_state_dtype(self) -> tuple[torch.dtype]:
        return (torch.float32,)

    def forward(self, hidden_states: torch.Tensor) -> torch.Tensor:
        """Output [N, hidden] for the N tokens of this step, request by request."""
        heads, size, _ = self._shape
        mixed = torch.nn.functional.silu(self.qkv_proj(hidden_states)[0]).view(-1, heads, 3 * size)
        query, key, value = (part.contiguous() for part in mixed.split(size, dim=-1))
        metadata = get_forward_context().attn_metadata
        if isinstance(metadata, dict):
            found = self._scan(query, key, value, metadata[self.prefix])
        else:
            found = torch.zeros_like(value)  # a dry run: there is no cache yet
        gated = torch.sigmoid(self.output_gate(hidden_states)[0]) * self.norm(found.reshape(len(found), -1))
        return self.out_proj(gated)[0]

    def _scan(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, metadata: LinearAttentionMetadata
    ) -> torch.Tensor:
        """Requests with one token come first, then requests with several."""
        cache, single = self.kv_cache[0], metadata.num_decodes
        starts = metadata.query_start_loc.long()
        known = metadata.seq_lens[: len(starts) - 1] - starts.diff()
        states = cache[metadata.state_indices_tensor.long()] * (known > 0).view(-1, 1, 1, 1)
        parts = []
        if single:
            out, states[:single] = decode_step(
                query[:single], key[:single], value[:single], self.slopes, states[:single]
            )
            parts.append(out)
        if metadata.num_prefills:
            rest = slice(single, int(starts[-1]))
            out, states[single:] = lightning_attention(
                query[rest], key[rest], value[rest], self.slopes, starts[single:] - single, states[single:].clone()
            )
            parts.append(out)
        cache[metadata.state_indices_tensor.long()] = states
        if int(starts[-1]) < len(value):
            parts.append(torch.zeros_like(value[int(starts[-1]) :]))
        return torch.cat(parts)

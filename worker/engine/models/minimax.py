"""MiniMax-Text-01 and MiniMax-M1 for vLLM, in the format of transformers' ``minimax``.

Softmax layers use vLLM's attention; lightning layers and experts are our own. One process computes the whole model,
without tensor or pipeline parallelism.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import torch
from torch import nn
from transformers import MiniMaxConfig
from vllm.config import VllmConfig
from vllm.forward_context import get_forward_context
from vllm.model_executor.layers.attention import Attention
from vllm.model_executor.layers.layernorm import RMSNorm
from vllm.model_executor.layers.linear import QKVParallelLinear, ReplicatedLinear
from vllm.model_executor.layers.logits_processor import LogitsProcessor
from vllm.model_executor.layers.mamba.mamba_utils import MambaStateCopyFuncCalculator
from vllm.model_executor.layers.rotary_embedding import get_rope
from vllm.model_executor.layers.vocab_parallel_embedding import ParallelLMHead, VocabParallelEmbedding
from vllm.model_executor.models.interfaces import HasInnerState, IsHybrid

from trainer_core.update.hybrid.lightning import is_constant
from trainer_core.update.hybrid.router import BIAS
from worker.engine.models.experts import Experts
from worker.engine.models.lightning import LightningAttention, state_shape

_LAYER = re.compile(r"model\.layers\.(\d+)\.(.+)")
_SHARDS = {"q_proj": "q", "k_proj": "k", "v_proj": "v"}


class SoftmaxAttention(nn.Module):
    """Grouped-query attention with rotary positions."""

    def __init__(self, config: MiniMaxConfig, vllm_config: VllmConfig, prefix: str) -> None:
        super().__init__()
        heads, kv_heads = config.num_attention_heads, config.num_key_value_heads
        size = config.head_dim or config.hidden_size // heads
        self._split = [heads * size, kv_heads * size, kv_heads * size]
        self.qkv_proj = QKVParallelLinear(
            config.hidden_size, size, heads, kv_heads, bias=False, prefix=f"{prefix}.qkv_proj"
        )
        self.o_proj = ReplicatedLinear(heads * size, config.hidden_size, bias=False, prefix=f"{prefix}.o_proj")
        self.rotary_emb = get_rope(
            size, max_position=config.max_position_embeddings, rope_parameters=config.rope_parameters
        )
        self.attn = Attention(
            heads,
            size,
            size**-0.5,
            num_kv_heads=kv_heads,
            cache_config=vllm_config.cache_config,
            per_layer_sliding_window=config.sliding_window,
            prefix=f"{prefix}.attn",
        )

    def forward(self, positions: torch.Tensor, hidden_states: torch.Tensor) -> torch.Tensor:
        """Output [N, hidden]."""
        query, key, value = self.qkv_proj(hidden_states)[0].split(self._split, dim=-1)
        query, key = self.rotary_emb(positions, query, key)
        return self.o_proj(self.attn(query, key, value))[0]


class DecoderLayer(nn.Module):
    """Attention of either kind, then experts; each residual sum weights the normalised input and the output."""

    def __init__(self, config: MiniMaxConfig, vllm_config: VllmConfig, number: int, prefix: str) -> None:
        super().__init__()
        self.recurrent = config.layer_types[number] == "linear_attention"
        if self.recurrent:
            self.self_attn: nn.Module = LightningAttention(config, vllm_config, f"{prefix}.self_attn")
            self._attention = (config.linear_attn_alpha_factor, config.linear_attn_beta_factor)
        else:
            self.self_attn = SoftmaxAttention(config, vllm_config, f"{prefix}.self_attn")
            self._attention = (config.full_attn_alpha_factor, config.full_attn_beta_factor)
        self._experts = (config.mlp_alpha_factor, config.mlp_beta_factor)
        self.experts = Experts(config)
        self.input_layernorm = RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.post_attention_layernorm = RMSNorm(config.hidden_size, eps=config.rms_norm_eps)

    def forward(self, positions: torch.Tensor, hidden_states: torch.Tensor) -> torch.Tensor:
        """Output [N, hidden]."""
        states = self.input_layernorm(hidden_states)
        found = self.self_attn(states) if self.recurrent else self.self_attn(positions, states)
        states = self.post_attention_layernorm(states * self._attention[0] + found * self._attention[1])
        return states * self._experts[0] + self.experts(states) * self._experts[1]


class Layers(nn.Module):
    """All but the output head."""

    def __init__(self, config: MiniMaxConfig, vllm_config: VllmConfig, prefix: str) -> None:
        super().__init__()
        self.embed_tokens = VocabParallelEmbedding(
            config.vocab_size, config.hidden_size, prefix=f"{prefix}.embed_tokens"
        )
        names = [f"{prefix}.layers.{number}" for number in range(config.num_hidden_layers)]
        self.layers: Any = nn.ModuleList(
            DecoderLayer(config, vllm_config, number, name) for number, name in enumerate(names)
        )
        self.norm = RMSNorm(config.hidden_size, eps=config.rms_norm_eps)


class MiniMaxForCausalLM(nn.Module, HasInnerState, IsHybrid):
    """Model that vLLM builds for the architecture of this name."""

    def __init__(self, *, vllm_config: VllmConfig, prefix: str = "") -> None:
        super().__init__()
        config: Any = vllm_config.model_config.hf_config
        if vllm_config.parallel_config.world_size > 1:
            raise ValueError("this policy runs in one process: neither tensor nor pipeline parallelism is supported")
        self.config = config
        self.model = Layers(config, vllm_config, "model")
        self.lm_head = ParallelLMHead(config.vocab_size, config.hidden_size, prefix="lm_head")
        if config.tie_word_embeddings:
            self.lm_head = self.lm_head.tie_weights(self.model.embed_tokens)
        self.logits_processor = LogitsProcessor(config.vocab_size)
        self.last_step: tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None = None

    @property
    def optional_weights(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of tensors that updates may contain but the base policy's files lack: router biases."""
        shape = (self.config.num_local_experts,)
        return {f"model.layers.{n}.block_sparse_moe.gate.{BIAS}": shape for n in range(len(self.model.layers))}

    @staticmethod
    def is_constant(name: str) -> bool:
        """Whether a tensor in a file is derived from the configuration and is not a weight."""
        return is_constant(name)

    def embed_input_ids(self, input_ids: torch.Tensor) -> torch.Tensor:
        """[N, hidden]."""
        return self.model.embed_tokens(input_ids)

    def forward(
        self,
        input_ids: torch.Tensor | None,
        positions: torch.Tensor,
        intermediate_tensors: Any = None,
        inputs_embeds: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Final hidden states [N, hidden] of this step's tokens."""
        if inputs_embeds is not None or input_ids is None:
            raise ValueError("this policy reads token ids, not embeddings")
        states = self.embed_input_ids(input_ids)
        for layer in self.model.layers:
            states = layer(positions, states)
        self._remember(positions)
        return self.model.norm(states)

    def compute_logits(self, hidden_states: torch.Tensor) -> torch.Tensor | None:
        """[N, V]."""
        return self.logits_processor(self.lm_head, hidden_states)

    def routes(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None:
        """Routes of the last step's tokens, returned once: experts [N, L, K], first token of each request [B + 1], and
        that token's position in its request [B]. None if there was no step since."""
        last, self.last_step = self.last_step, None
        return last

    def load_weights(self, weights: Iterable[tuple[str, torch.Tensor]]) -> set[str]:
        """Load all tensors together, by their names in the files. Returns the parameters that were filled.

        Routers whose bias is missing have none from now on.

        Raises:
            KeyError: the model has no such tensor.
        """
        parameters = dict(self.named_parameters())
        for layer in self.model.layers:
            layer.experts.bias.data.zero_()
        done: set[str] = set()
        for name, tensor in weights:
            if self.is_constant(name):
                continue
            match = _LAYER.fullmatch(name)
            if match and match.group(2).startswith("block_sparse_moe."):
                layer = self.model.layers[int(match.group(1))]
                layer.experts.load(match.group(2).partition(".")[2], tensor)
                continue
            if name == "lm_head.weight" and self.config.tie_word_embeddings:
                continue
            stem, _, last = name.removesuffix(".weight").rpartition(".")
            target, extra = (f"{stem}.qkv_proj.weight", (_SHARDS[last],)) if last in _SHARDS else (name, ())
            parameter: Any = parameters[target]
            if hasattr(parameter, "weight_loader"):
                parameter.weight_loader(parameter, tensor, *extra)
            else:
                parameter.data.copy_(tensor)
            done.add(target)
        # Experts consist of many tensors. The earlier check of names ensures that none is missing.
        return done | {name for name in parameters if ".experts." in name}

    @classmethod
    def get_mamba_state_shape_from_config(cls, vllm_config: VllmConfig) -> tuple[tuple[int, int, int]]:
        return (state_shape(vllm_config.model_config.hf_config),)

    @classmethod
    def get_mamba_state_dtype_from_config(cls, vllm_config: VllmConfig) -> tuple[torch.dtype]:
        return (torch.float32,)

    @classmethod
    def get_mamba_state_copy_func(cls) -> Any:
        return MambaStateCopyFuncCalculator.linear_attention_state_copy_func()

    def _remember(self, positions: torch.Tensor) -> None:
        metadata = get_forward_context().attn_metadata
        recurrent = next((layer.self_attn for layer in self.model.layers if layer.recurrent), None)
        if not isinstance(metadata, dict) or recurrent is None:
            return
        starts = metadata[recurrent.prefix].query_start_loc.clone()
        routes = torch.stack([layer.experts.chosen for layer in self.model.layers], dim=1)
        self.last_step = (routes, starts, positions[starts[:-1].long()])

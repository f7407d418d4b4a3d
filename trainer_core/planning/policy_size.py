"""Sizes of a policy that memory depends on, read from its Hugging Face folder without torch and without its weights."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from trainer_core.spec.learner.adapter import LoRAAdapter

LONGEST_HEADER = 100_000_000
"""Bytes: the format's own limit."""

ROUTERS = (".gate", ".router")
"""Last parts of the names of layers that route tokens to experts."""


class UnknownSize(ValueError):
    """The folder does not specify the policy's size; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Latent:
    """Sizes of attention through a latent of keys and values (multi-head latent attention, arXiv 2405.04434)."""

    queries: int
    """Rank of the query projection; 0 if it has full rank."""
    keys: int
    """Rank of the joint projection of keys and values."""
    rotated: int
    """Numbers of a key that rotate with its position; all heads share them."""


@dataclass(frozen=True, slots=True)
class PolicySize:
    """Sizes of a decoder with attention and gated feed-forward layers."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    """Numbers of a query or key in one head."""
    value_dim: int
    """Numbers of a value in one head."""
    latent: Latent | None
    intermediate: int
    """Intermediate width of one expert, if there are several."""
    vocabulary: int
    experts: int
    """Routed experts of a layer; 0 for a dense policy."""
    experts_per_token: int
    """1 for a dense policy."""
    shared_intermediate: int
    """Intermediate width of all experts that every token goes through; 0 for none."""
    dense_layers: int
    """Layers of a mixture that have no experts."""
    dense_intermediate: int
    """Intermediate width of these layers."""
    norms: int
    """Norms of the hidden states in one layer."""
    lean_norms: bool
    """Whether the learner's lean norm works for them; Gemma's norms add 1 to their weights."""
    normalises_heads: bool
    """Whether queries and keys are normalised per head."""
    cuts_kernels: bool
    """Whether scores are capped or have sinks, which the fused kernel with a mask does not compute."""
    clamps_gates: bool
    """Whether experts clamp both sides of their gates, with every intermediate result saved (GPT-OSS)."""
    window: int | None
    """Latest positions that a layer with a sliding window sees; None if no layer has one."""
    parameters: int
    """Tied parameters count once."""
    largest: int
    """Parameters of the largest tensor in memory, where a layer's experts are joined."""
    matrices: Mapping[str, tuple[tuple[int, int], ...]]
    """Shapes of the linear layers that can have an adapter, by the last part of their name. In a mixture of experts
    these are the layers of its attention."""

    @classmethod
    def of(cls, folder: Path) -> "PolicySize":
        """Reads the size of the policy in ``folder``.

        Raises:
            UnknownSize: its configuration is of an unsupported kind.
            OSError: a file is missing.
        """
        config = json.loads((folder / "config.json").read_text())
        shapes = tensor_shapes(folder)
        # Multimodal policies keep the sizes of their language model in a separate section.
        if isinstance(config.get("text_config"), dict):
            config = {**config, **config["text_config"]}
        names = ("num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size")
        missing = [name for name in names if not isinstance(config.get(name), int)]
        if missing:
            raise UnknownSize(f"config.json lacks {', '.join(missing)}")
        layers, hidden, heads = (config[name] for name in names[:3])
        experts = _experts(config)
        dense = config.get("intermediate_size") or 4 * hidden
        inner = config.get("moe_intermediate_size") or dense if experts else dense
        latent = _latent(config)
        head_dim = config.get("head_dim") or hidden // heads
        return cls(
            layers=layers,
            hidden=hidden,
            heads=heads,
            kv_heads=heads if latent else config.get("num_key_value_heads") or heads,
            head_dim=config["qk_nope_head_dim"] + latent.rotated if latent else head_dim,
            value_dim=config["v_head_dim"] if latent else head_dim,
            latent=latent,
            intermediate=inner,
            vocabulary=config["vocab_size"],
            experts=experts,
            experts_per_token=int(config.get("num_experts_per_tok") or 1) if experts else 1,
            shared_intermediate=_shared(config, inner) if experts else 0,
            dense_layers=_dense_layers(config) if experts else 0,
            dense_intermediate=dense,
            norms=_norms(shapes, hidden),
            lean_norms=not str(config.get("model_type", "")).startswith("gemma"),
            normalises_heads=any(name.endswith("q_norm.weight") for name in shapes),
            cuts_kernels=bool(config.get("attn_logit_softcapping")) or any(one.endswith(".sinks") for one in shapes),
            clamps_gates=config.get("model_type") == "gpt_oss",
            window=_window(config),
            parameters=sum(prod(shape) for shape in shapes.values()),
            largest=_largest(shapes),
            matrices=_matrices(shapes, attention_alone=experts > 0),
        )

    def cached_numbers(self, *, on_cpu: bool) -> int:
        """Numbers per token in an engine's cache. On CPUs, latent attention is cached with expanded heads, whose values
        are padded to the size of keys."""
        if self.latent is not None and on_cpu:
            return self.layers * self.heads * 2 * self.head_dim
        if self.latent is not None:
            return self.layers * (self.latent.keys + self.latent.rotated)
        return self.layers * self.kv_heads * (self.head_dim + self.value_dim)

    def adapter_parameters(self, adapter: LoRAAdapter) -> int:
        """Numbers in the two thin matrices beside each adapted layer."""
        names = adapter.target_modules or tuple(self.matrices)
        return sum(adapter.rank * (rows + columns) for name in names for rows, columns in self.matrices.get(name, ()))


def _experts(config: dict[str, Any]) -> int:
    """Routed experts of a layer; 0 for a dense policy."""
    names = ("num_experts", "num_local_experts", "n_routed_experts")
    return next((int(config[name]) for name in names if config.get(name)), 0)


def _shared(config: dict[str, Any], inner: int) -> int:
    own = config.get("shared_expert_intermediate_size") or config.get("shared_intermediate_size")
    return int(own or (config.get("n_shared_experts") or 0) * inner)


def _dense_layers(config: dict[str, Any]) -> int:
    """Layers without experts: the first ones, the named ones, and those between regularly spaced expert layers."""
    layers = range(int(config["num_hidden_layers"]))
    first, every = int(config.get("first_k_dense_replace") or 0), int(config.get("decoder_sparse_step") or 1)
    named = set(config.get("mlp_only_layers") or ())
    return sum(layer < first or layer in named or (layer + 1) % every != 0 for layer in layers)


def _latent(config: dict[str, Any]) -> Latent | None:
    if not config.get("kv_lora_rank"):
        return None
    return Latent(int(config.get("q_lora_rank") or 0), int(config["kv_lora_rank"]), int(config["qk_rope_head_dim"]))


def _window(config: dict[str, Any]) -> int | None:
    """The sliding window, if a layer has one. Some configurations name one that is switched off."""
    kinds = config.get("layer_types")
    used = config.get("use_sliding_window", True) and (not kinds or "sliding_attention" in kinds)
    return int(config["sliding_window"]) if used and config.get("sliding_window") else None


def _largest(shapes: Mapping[str, tuple[int, ...]]) -> int:
    joined: dict[str, int] = {}
    for name, shape in shapes.items():
        layer, experts, inside = name.partition(".experts.")
        # transformers joins the input matrices of all experts of a layer, and their output matrices.
        behind = "down" in inside or ".w2." in f".{inside}."
        key = f"{layer}{experts}{'down' if behind else 'up'}" if experts else name
        joined[key] = joined.get(key, 0) + prod(shape)
    return max(joined.values())


def _norms(shapes: Mapping[str, tuple[int, ...]], hidden: int) -> int:
    """Norms of the hidden states in the first layer."""
    own = (name for name, shape in shapes.items() if ".layers.0." in name and shape == (hidden,))
    inside = ("q_norm", "k_norm", "q_a_layernorm", "kv_a_layernorm")
    return sum("norm" in name and name.endswith(".weight") and name.split(".")[-2] not in inside for name in own)


def tensor_shapes(folder: Path) -> dict[str, tuple[int, ...]]:
    """Shapes of all tensors, from the headers of the safetensors files."""
    found: dict[str, tuple[int, ...]] = {}
    for path in sorted(folder.glob("*.safetensors")):
        try:
            with path.open("rb") as stream:
                header = json.loads(stream.read(min(int.from_bytes(stream.read(8), "little"), LONGEST_HEADER)))
            found |= {name: tuple(one["shape"]) for name, one in header.items() if name != "__metadata__"}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UnknownSize(f"{path.name} is not a safetensors file") from error
    if not found:
        raise UnknownSize("there are no safetensors files")
    return found


def _matrices(
    shapes: Mapping[str, tuple[int, ...]], *, attention_alone: bool
) -> dict[str, tuple[tuple[int, int], ...]]:
    found: dict[str, list[tuple[int, int]]] = {}
    for name, shape in shapes.items():
        inside = name.removesuffix(".weight")
        if attention_alone and ".mlp." in name:
            continue
        # Embeddings and output layer are outside the layers; experts are in joint tensors in memory.
        if len(shape) == 2 and ".layers." in name and ".experts." not in name and not inside.endswith(ROUTERS):
            found.setdefault(inside.rpartition(".")[2], []).append((shape[0], shape[1]))
    return {name: tuple(all_of) for name, all_of in found.items()}

"""Tiny random policies of commonly trained architectures, built from transformers' own configuration classes.

They are for tests and experiments: below a million parameters, random weights, real tokenizers. The features of an
architecture take effect at this size too: windows are shorter than test sequences, score capping is low enough to
matter, and biases and norms differ from their initial values. ``python -m trainer_core.starter.architectures NAME --out
DIR`` builds one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from trainer_core.starter import chats
from trainer_core.starter.chats import VOCABULARY, Chat, build_chat_tokenizer

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizerFast

Dtype = Literal["float32", "bfloat16"]

MAX_POSITIONS = 2048
WINDOW = 16
"""Size of a sliding window in tokens."""
SPREAD = 0.1
"""Standard deviation of random matrices; that of the logits is then about 1."""
_FULL, _SLIDING = "full_attention", "sliding_attention"
_ROPE = {"rope_type": "default", "rope_theta": 10_000.0}
_DENSE: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 128,
    "intermediate_size": 192,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,  # the smallest that vLLM's attention on CPUs accepts
    "max_position_embeddings": MAX_POSITIONS,
    "rope_parameters": _ROPE,
    "rms_norm_eps": 1e-6,
    "attention_dropout": 0.0,
}
_ALTERNATING = {"sliding_window": WINDOW, "layer_types": [_SLIDING, _FULL, _SLIDING, _FULL]}
_LATENT: dict[str, Any] = {
    "num_hidden_layers": 3,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "head_dim": 64,
    # The latent size of real models, the only one that vLLM's CPU kernel supports.
    "kv_lora_rank": 512,
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 32,
    "v_head_dim": 32,
    "first_k_dense_replace": 1,
    "moe_intermediate_size": 32,
    "n_routed_experts": 8,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "n_group": 2,
    "topk_group": 1,
}


@dataclass(frozen=True, slots=True)
class Architecture:
    """One family of policies."""

    config: str
    """transformers' configuration class."""
    model: str
    """transformers' model class, as ``architectures`` in config.json names it."""
    chat: Chat
    heads: tuple[Literal["tied", "untied"], ...] = ("tied", "untied")
    """Kinds of head in this family, the usual one first."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings that differ from the dense default."""
    without: tuple[str, ...] = ()
    """Defaults that the configuration class does not have."""


def _moe(**settings: Any) -> dict[str, Any]:
    return {"num_hidden_layers": 3, "num_experts_per_tok": 2, **settings}


ARCHITECTURES: Mapping[str, Architecture] = {
    "llama3": Architecture(
        "LlamaConfig",
        "LlamaForCausalLM",
        chats.LLAMA_3,
        ("untied", "tied"),
        {
            "rope_parameters": {
                "rope_type": "llama3",
                "rope_theta": 500_000.0,
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 256,
            }
        },
    ),
    "smollm2": Architecture("LlamaConfig", "LlamaForCausalLM", chats.CHATML, ("tied",)),
    "smollm3": Architecture(
        "SmolLM3Config", "SmolLM3ForCausalLM", chats.THINKING, settings={"no_rope_layers": [1, 1, 1, 0]}
    ),
    "qwen2": Architecture("Qwen2Config", "Qwen2ForCausalLM", chats.CHATML, without=("head_dim",)),
    "qwen3": Architecture("Qwen3Config", "Qwen3ForCausalLM", chats.THINKING),
    "qwen3_moe": Architecture(
        "Qwen3MoeConfig",
        "Qwen3MoeForCausalLM",
        chats.THINKING,
        ("untied", "tied"),
        _moe(num_experts=8, moe_intermediate_size=64, norm_topk_prob=True, decoder_sparse_step=1, mlp_only_layers=[]),
    ),
    "mistral": Architecture(
        "MistralConfig", "MistralForCausalLM", chats.MISTRAL, ("untied", "tied"), {"sliding_window": WINDOW}
    ),
    "mixtral": Architecture(
        "MixtralConfig",
        "MixtralForCausalLM",
        chats.MISTRAL,
        ("untied",),
        _moe(num_local_experts=4, intermediate_size=64, sliding_window=None),
    ),
    "gemma2": Architecture(
        "Gemma2Config",
        "Gemma2ForCausalLM",
        chats.GEMMA,
        ("tied",),
        {
            **_ALTERNATING,
            "query_pre_attn_scalar": 64,
            "attn_logit_softcapping": 2.0,
            "final_logit_softcapping": 4.0,
            "hidden_activation": "gelu_pytorch_tanh",
        },
    ),
    "gemma3": Architecture(
        "Gemma3TextConfig",
        "Gemma3ForCausalLM",
        chats.GEMMA,
        ("tied",),
        {
            **_ALTERNATING,
            "query_pre_attn_scalar": 64,
            "rope_parameters": {
                _SLIDING: _ROPE,
                _FULL: {"rope_type": "linear", "factor": 8.0, "rope_theta": 1_000_000.0},
            },
        },
    ),
    "phi3": Architecture(
        "Phi3Config",
        "Phi3ForCausalLM",
        chats.PHI,
        ("untied", "tied"),
        {"sliding_window": None, "original_max_position_embeddings": MAX_POSITIONS},
        without=("head_dim",),
    ),
    "phi4": Architecture(
        "Phi3Config",
        "Phi3ForCausalLM",
        chats.PHI,
        ("tied", "untied"),
        {
            "sliding_window": None,
            "original_max_position_embeddings": MAX_POSITIONS,
            "rope_parameters": {**_ROPE, "partial_rotary_factor": 0.75},
        },
        without=("head_dim",),
    ),
    "olmo2": Architecture("Olmo2Config", "Olmo2ForCausalLM", chats.OLMO, ("untied",), without=("head_dim",)),
    "olmo3": Architecture(
        "Olmo3Config",
        "Olmo3ForCausalLM",
        chats.OLMO,
        ("untied",),
        {"sliding_window": WINDOW, "layer_types": [_SLIDING, _SLIDING, _SLIDING, _FULL]},
        without=("head_dim",),
    ),
    "granite": Architecture(
        "GraniteConfig",
        "GraniteForCausalLM",
        chats.GRANITE,
        settings={
            "embedding_multiplier": 6.0,
            "attention_multiplier": 0.125,
            "residual_multiplier": 0.4,
            "logits_scaling": 2.0,
        },
        without=("head_dim",),
    ),
    "gpt_oss": Architecture(
        "GptOssConfig",
        "GptOssForCausalLM",
        chats.HARMONY,
        ("untied",),
        _moe(
            num_local_experts=4,
            intermediate_size=64,
            sliding_window=WINDOW,
            num_hidden_layers=4,
            layer_types=_ALTERNATING["layer_types"],
            rope_parameters={
                "rope_type": "yarn",
                "rope_theta": 150_000.0,
                "factor": 8.0,
                "beta_fast": 32.0,
                "beta_slow": 1.0,
                "truncate": False,
                "original_max_position_embeddings": 256,
            },
        ),
    ),
    "deepseek_v2": Architecture(
        "DeepseekV2Config",
        "DeepseekV2ForCausalLM",
        chats.DEEPSEEK,
        ("untied",),
        {**_LATENT, "q_lora_rank": None, "topk_method": "greedy", "routed_scaling_factor": 1.0},
    ),
    "deepseek_v3": Architecture(
        "DeepseekV3Config",
        "DeepseekV3ForCausalLM",
        chats.DEEPSEEK,
        ("untied",),
        {**_LATENT, "q_lora_rank": 48, "routed_scaling_factor": 2.5, "norm_topk_prob": True, "num_mtp_layers": 0},
    ),
}


def make_tiny(
    name: str,
    folder: Path,
    *,
    tied: bool | None = None,
    dtype: Dtype = "float32",
    seed: int = 0,
    sharpen: float = 1.0,
) -> Path:
    """Write a tiny random policy as a Hugging Face folder; returns the folder.

    Args:
        name: a key of ``ARCHITECTURES``.
        folder: must not exist or must be empty; its parents are created.
        tied: whether the output layer is the embedding; None for the usual choice in the family.
        dtype: number type of the weights in the files and of the configuration.
        seed: the same seed gives the same weights; the global random state is not changed.
        sharpen: factor for all logits: a trained policy is far more certain of its next token than a random one.

    Raises:
        ValueError: the architecture is unknown, or does not have this kind of head.
        FileExistsError: the folder is not empty.
    """
    architecture = _known(name)
    head = _head(name, architecture, tied)
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty; choose another folder or remove it first")
    tokenizer = build_chat_tokenizer(architecture.chat, MAX_POSITIONS)
    model = _random_model(architecture, tokenizer, head == "tied", seed)
    _sharpen(model, sharpen)
    _save(model, tokenizer, dtype, folder)
    return folder


def _known(name: str) -> Architecture:
    if name not in ARCHITECTURES:
        raise ValueError(f"unknown architecture {name!r}; known: {', '.join(ARCHITECTURES)}")
    return ARCHITECTURES[name]


def _head(name: str, architecture: Architecture, tied: bool | None) -> str:
    head = architecture.heads[0] if tied is None else "tied" if tied else "untied"
    if head not in architecture.heads:
        raise ValueError(f"policies of {name} have {' or '.join(architecture.heads)} heads, not {head}")
    return head


def _config(architecture: Architecture, tokenizer: PreTrainedTokenizerFast, tied: bool) -> PretrainedConfig:
    import torch
    import transformers

    settings = {**_DENSE, **architecture.settings}
    config: PretrainedConfig = getattr(transformers, architecture.config)(
        # Configuration classes modify their arguments.
        **deepcopy({key: value for key, value in settings.items() if key not in architecture.without}),
        tie_word_embeddings=tied,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        dtype=torch.float32,
    )
    return config


def _random_model(
    architecture: Architecture, tokenizer: PreTrainedTokenizerFast, tied: bool, seed: int
) -> PreTrainedModel:
    import torch
    import transformers

    config = _config(architecture, tokenizer, tied)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model: PreTrainedModel = getattr(transformers, architecture.model)(config).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.ndim > 1:
                    parameter.normal_(std=SPREAD)
                else:  # norms, biases, sinks: a weight that is not loaded must show
                    parameter.add_(torch.randn(parameter.shape) * SPREAD)
            for key, buffer in model.named_buffers():
                if key.endswith("e_score_correction_bias"):
                    buffer.normal_(std=SPREAD)
    turn = tokenizer.convert_tokens_to_ids(architecture.chat.end_of_turn)
    model.generation_config = transformers.GenerationConfig(
        do_sample=True,
        temperature=1.0,
        top_k=0,
        top_p=1.0,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=list(dict.fromkeys([tokenizer.eos_token_id, turn])),
        pad_token_id=tokenizer.pad_token_id,
    )
    return model


def _sharpen(model: Any, factor: float) -> None:
    """Scale all logits by scaling the last norm, which even a tied head does not share."""
    import torch

    norm, config = model.model.norm, model.config
    centred = type(norm).__name__.startswith("Gemma")  # these multiply by 1 + weight
    with torch.no_grad():
        norm.weight.copy_((norm.weight + 1) * factor - 1 if centred else norm.weight * factor)
    if getattr(config, "final_logit_softcapping", None):
        config.final_logit_softcapping *= factor


def _save(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, dtype: Dtype, folder: Path) -> None:
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    if dtype == "bfloat16":
        model = model.to(torch.bfloat16)  # buffers are not saved, or are read in float32 again
        model.config.dtype = torch.bfloat16
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def main() -> None:
    """Parse the command line and build the policy; exit with a one-sentence message if that is not possible."""
    parser = argparse.ArgumentParser(prog="python -m trainer_core.starter.architectures", description=__doc__)
    parser.add_argument("name", choices=ARCHITECTURES, help="architecture")
    parser.add_argument("--out", type=Path, required=True, help="folder to create; must not exist, or be empty")
    parser.add_argument("--tied", action=argparse.BooleanOptionalAction, help="tie the output layer to the embedding")
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32", help="type of the weights")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same policy (default: 0)")
    parser.add_argument("--sharpen", type=float, default=1.0, help="factor of all logits (default: 1)")
    given = parser.parse_args()
    try:
        make_tiny(given.name, given.out, tied=given.tied, dtype=given.dtype, seed=given.seed, sharpen=given.sharpen)
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    print(f"wrote {given.out}")


if __name__ == "__main__":
    main()

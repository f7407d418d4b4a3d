"""The table of architectures, by the model class that ``config.json`` names.

Its entries are what ``python -m tests.architectures`` observed; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SEPARATE = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
ATTENTION = ("q_proj", "k_proj", "v_proj", "o_proj")
LATENT = ("kv_a_proj_with_mqa", "kv_b_proj", "o_proj")

_BY_TRANSFORMERS = (
    "The engine computes it with transformers' own class: slower than an architecture that vLLM implements."
)
_WINDOWS = "Sliding windows are computed exactly."
_CAPPING = "Score capping is computed exactly, on a slower path."
_EXPERTS = "LoRA adapts only the attention: experts, including shared and dense ones, are frozen."
_ROUTES = (
    "In bfloat16 one or two routes in a hundred differ between engine and learner, which changes some tokens by a nat:"
    " policy.routing.replay uses the engine's. Replay is tested on CPUs, not on a GPU."
)
_PREDICTION = "Layers that predict further tokens (num_nextn_predict_layers) are neither trained nor exported."
_LATENT_HEADS = "On CPUs the engine keeps latent attention with expanded heads, which use more of its cache."


@dataclass(frozen=True, slots=True)
class Support:
    """Parts of the platform that work with the policies of one model class."""

    title: str
    """Families that have this class."""
    policies: tuple[str, ...]
    """The tiny policies that ``python -m tests.architectures`` tried: names of
    ``trainer_core.starter.architectures``. If empty, the remarks say what else was tested."""
    layers: tuple[str, ...]
    """Last parts of the names of linear layers that an adapter may cover."""
    engine: bool = True
    learner: bool = True
    lora: bool = True
    bfloat16: bool | None = True
    """Engine and learner in bfloat16 with a float32 output layer; None if it was not tried."""
    float16: bool = True
    """Whether vLLM accepts it, by its own list. It was not tried here."""
    fp8: bool = True
    """Simulated FP8 in engine and learner."""
    routes: bool = False
    """Whether the engine reports the experts that it routed tokens to."""
    experts: bool = False
    """Whether it is a mixture of experts."""
    biased: bool = False
    """Whether its routers have the bias that loss-free balancing adjusts."""
    in_flight: bool = True
    """Weight updates in the middle of answers."""
    tensor_parallel: bool = True
    """Whether an engine with several devices can split its layers."""
    pipelines: bool = True
    """Whether each device of an engine can hold some of its layers, as vLLM's class says."""
    remarks: tuple[str, ...] = ()

    @property
    def trains(self) -> bool:
        """Whether whole runs work."""
        return self.engine and self.learner


ARCHITECTURES: Mapping[str, Support] = {
    "LlamaForCausalLM": Support("Llama 3, SmolLM 2", ("llama3", "smollm2"), SEPARATE),
    "SmolLM3ForCausalLM": Support("SmolLM 3", ("smollm3",), SEPARATE, remarks=(_BY_TRANSFORMERS,)),
    "Qwen2ForCausalLM": Support("Qwen 2, Qwen 2.5", ("qwen2",), SEPARATE),
    "Qwen3ForCausalLM": Support("Qwen 3", ("qwen3",), SEPARATE),
    "Qwen3MoeForCausalLM": Support(
        "Qwen 3 MoE", ("qwen3_moe",), ATTENTION, experts=True, routes=True, remarks=(_ROUTES, _EXPERTS)
    ),
    "MistralForCausalLM": Support("Mistral", ("mistral",), SEPARATE, remarks=(_WINDOWS,)),
    "MixtralForCausalLM": Support(
        "Mixtral", ("mixtral",), ATTENTION, experts=True, routes=True, remarks=(_ROUTES, _EXPERTS)
    ),
    "Gemma2ForCausalLM": Support(
        "Gemma 2",
        ("gemma2",),
        SEPARATE,
        float16=False,
        remarks=(
            _CAPPING,
            _WINDOWS,
            "Load trained checkpoints with attn_implementation='eager': transformers' fused attention omits the"
            " capping.",
        ),
    ),
    "Gemma3ForCausalLM": Support(
        "Gemma 3 (text)",
        ("gemma3",),
        SEPARATE,
        float16=False,
        remarks=(_WINDOWS, "Models that also see images are refused: their text part trains by itself."),
    ),
    "Phi3ForCausalLM": Support(
        "Phi 3, Phi 4",
        ("phi3", "phi4"),
        ("qkv_proj", "o_proj", "gate_up_proj", "down_proj"),
        remarks=("LoRA adapts the joint layers that its files have: qkv_proj and gate_up_proj.",),
    ),
    "Olmo2ForCausalLM": Support("OLMo 2", ("olmo2",), SEPARATE, remarks=(_BY_TRANSFORMERS,)),
    "Olmo3ForCausalLM": Support("OLMo 3", ("olmo3",), SEPARATE, remarks=(_BY_TRANSFORMERS, _WINDOWS)),
    "GraniteForCausalLM": Support("Granite 3", ("granite",), SEPARATE),
    "GptOssForCausalLM": Support(
        "GPT-OSS",
        ("gpt_oss",),
        ATTENTION,
        experts=True,
        routes=True,
        fp8=False,
        remarks=("Attention sinks are computed exactly, on a slower path.", _WINDOWS, _ROUTES, _EXPERTS),
    ),
    "DeepseekV2ForCausalLM": Support(
        "DeepSeek V2",
        ("deepseek_v2",),
        ("q_proj", "q_a_proj", "q_b_proj", *LATENT),
        experts=True,
        routes=True,
        fp8=False,
        remarks=(_LATENT_HEADS, _ROUTES, _EXPERTS),
    ),
    "DeepseekV3ForCausalLM": Support(
        "DeepSeek V3, R1",
        ("deepseek_v3",),
        ("q_a_proj", "q_b_proj", *LATENT),
        experts=True,
        biased=True,
        routes=True,
        fp8=False,
        remarks=(_LATENT_HEADS, _PREDICTION, _ROUTES, _EXPERTS),
    ),
    "MiniMaxForCausalLM": Support(
        "MiniMax-Text-01, MiniMax-M1",
        (),
        (*ATTENTION, "qkv_proj", "output_gate", "out_proj"),
        experts=True,
        biased=True,
        bfloat16=None,
        routes=True,
        fp8=False,
        tensor_parallel=False,
        pipelines=False,
        remarks=(
            "Lightning attention and experts are computed by the platform itself.",
            "It is not in the table: separate tests run it in float32 (docs/hybrid.md), with weights that change"
            " between and during answers, and update it with LoRA. bfloat16 is untested.",
            _EXPERTS,
        ),
    ),
}


def class_of(config: Mapping[str, Any]) -> str | None:
    """The model class that a configuration names first."""
    named = config.get("architectures")
    return named[0] if isinstance(named, list) and named and isinstance(named[0], str) else None


def support_of(config: Mapping[str, Any]) -> Support | None:
    """Parts that work with the policy of this ``config.json``; None for an untested class."""
    return ARCHITECTURES.get(class_of(config) or "")

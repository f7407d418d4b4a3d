"""Reasons why a policy cannot be trained, or not as the spec requests, each with a remedy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from trainer_core.spec.learner.adapter import LoRAAdapter
from trainer_core.spec.learner.routing import LossFreeBalancing, NoBalancing
from trainer_core.support.architectures import ARCHITECTURES, Support, class_of, support_of
from trainer_core.support.context_parallel import of_context
from trainer_core.support.engine_devices import of_devices
from trainer_core.support.families import FIXED_ATTENTION, RECURRENT
from trainer_core.support.libraries import of_libraries

if TYPE_CHECKING:
    from trainer_core.spec import RunSpec

Path = tuple[str | int, ...]
BASE: Path = ("policy", "base")

_SEES = ("ForConditionalGeneration", "ForImageTextToText", "VForCausalLM", "VLForCausalLM", "MMForCausalLM")
"""Endings of the names of multimodal classes."""
TEXT_PARTS = {
    "Gemma3ForConditionalGeneration": ("gemma3_text", "Gemma3ForCausalLM"),
    "Mistral3ForConditionalGeneration": ("mistral", "MistralForCausalLM"),
    "LlavaForConditionalGeneration": ("llama", "LlamaForCausalLM"),
}
"""Classes whose text part can be extracted, as docs/architectures.md shows: model type of that part, and its own class.
A test does so for each of them."""
_SIBLINGS = {
    "Qwen3Next": "Qwen3MoeForCausalLM",
    "Qwen3_5": "Qwen3ForCausalLM",
    "Qwen3_5Moe": "Qwen3MoeForCausalLM",
    "OlmoHybrid": "Olmo3ForCausalLM",
    "GraniteMoeHybrid": "GraniteForCausalLM",
    "RecurrentGemma": "Gemma2ForCausalLM",
    "FalconMamba": "LlamaForCausalLM",
    "StableLm": "LlamaForCausalLM",
    "Llama4": "LlamaForCausalLM",
    "Qwen2VL": "Qwen2ForCausalLM",
    "Qwen2_5_VL": "Qwen2ForCausalLM",
    "Qwen3VL": "Qwen3ForCausalLM",
    "Qwen3VLMoe": "Qwen3MoeForCausalLM",
    "Mllama": "LlamaForCausalLM",
}
_WIDENED_BY = {"mxfp4": "Mxfp4Config", "fp8": "FineGrainedFP8Config"}
"""File formats that transformers can dequantise when it loads them, and its class for them."""
_LAYERS = {"full_attention", "sliding_attention"}
_HYBRID = ("minimax", "linear_attention")
"""Model type whose recurrent layers the platform computes itself, and their kind."""
_PRESCALED = ("su", "longrope", "llama3", "yarn", "deepseek_yarn", "deepseek_llama_scaling")
"""Kinds of rotary scaling whose ``max_position_embeddings`` is the scaled length."""


def refusal(config: Mapping[str, Any], spec: RunSpec | None = None) -> str | None:
    """Sentences for a user who cannot train this policy (as ``spec`` requests), or None if it can be trained.

    Args:
        config: the policy's ``config.json``.
        spec: the run; None checks the policy alone.
    """
    found = [sentence for _, sentence in objections(config, spec)]
    return " ".join(found) or None


def objections(config: Mapping[str, Any], spec: RunSpec | None = None) -> Iterator[tuple[Path, str]]:
    """Fields of the spec, each with a sentence that says what is wrong and what to do."""
    if (reason := _of_class(config) or _of_weights(config) or _of_layers(config)) is not None:
        yield BASE, reason
    elif spec is not None:
        yield from _of_spec(config, spec)


def _of_class(config: Mapping[str, Any]) -> str | None:
    name = class_of(config)
    if name is None:
        return "config.json names no architecture: write the model's class into its list 'architectures'."
    family = name.removesuffix("ForCausalLM").removesuffix("LMHeadModel").removesuffix("ForConditionalGeneration")
    if name.endswith(("ForSequenceClassification", "ForTokenClassification")):
        return (
            f"{name} returns scores and generates no text: use it as a reward model, and train a policy whose class"
            " ends in ForCausalLM."
        )
    if name.endswith(_SEES) or "vision_config" in config or "audio_config" in config:
        part = _text_part(name, config)
        way = f"save its text part as {part} by itself (docs/architectures.md shows how), or " if part else ""
        return f"{name} processes images or sound, and only text is trained here: {way}choose {_choice(family)}."
    if config.get("is_encoder_decoder"):
        return f"{name} has an encoder, and only decoders are trained here: choose {_choice()}."
    if family in RECURRENT:
        return f"{name} has recurrent layers, which would mix packed sequences: choose {_choice(family)}."
    if family in FIXED_ATTENTION:
        return (
            f"The attention of {name} cannot be replaced in transformers, so packed sequences would mix: choose"
            f" {_choice(family)}."
        )
    if not name.endswith(("ForCausalLM", "LMHeadModel")):
        return f"{name} is not a language model that generates text: choose {_choice()}."
    known = ARCHITECTURES.get(name)
    if known is not None and not known.trains:
        return f"{name} does not train yet ({' '.join(known.remarks)}): choose {_choice(family)}."
    if (reason := of_libraries(name, config)) is not None:
        return f"{reason} Otherwise choose {_choice(family)}: see docs/architectures.md for what works with each."
    return None


def _text_part(name: str, config: Mapping[str, Any]) -> str | None:
    """Class of the text part of a multimodal model, if that part is known to work as a policy by itself."""
    usual, part = TEXT_PARTS.get(name, ("", None))
    text = config.get("text_config")
    return part if not isinstance(text, Mapping) or text.get("model_type", usual) == usual else None


def _of_weights(config: Mapping[str, Any]) -> str | None:
    quantised = config.get("quantization_config")
    if not quantised:
        return None
    method = str(quantised.get("quant_method")) if isinstance(quantised, Mapping) else "fewer bits"
    way = "register the model's own version in bfloat16"
    if method in _WIDENED_BY:
        way += (
            ", or create one: AutoModelForCausalLM.from_pretrained(folder, dtype='bfloat16',"
            f" quantization_config={_WIDENED_BY[method]}(dequantize=True)).save_pretrained(another)"
        )
    return f"Its weights are stored in {method}, which cannot be trained: {way}."


def _of_layers(config: Mapping[str, Any]) -> str | None:
    hybrid, recurrent = _HYBRID
    own = {recurrent} if config.get("model_type") == hybrid else set()
    kinds = config.get("layer_types")
    strange = sorted({str(kind) for kind in kinds} - _LAYERS - own) if isinstance(kinds, list) else []
    if strange:
        family = str(class_of(config)).removesuffix("ForCausalLM")
        return f"Its layers of type {', '.join(strange)} would mix packed sequences: choose {_choice(family)}."
    if config.get("model_type") == "gpt_oss" and (strange_part := _of_gpt_oss(config)) is not None:
        return (
            f"It is a GPT-OSS with {strange_part}, which the engine computes only with the published settings: choose"
            " one with the published settings."
        )
    for noise in ("attn_logit_bias", "alibi"):
        if config.get(noise):
            return f"Its attention adds a distance bias ({noise}), which is not supported: choose {_choice()}."
    return None


def _of_gpt_oss(config: Mapping[str, Any]) -> str | None:
    """Setting that is hard-coded in vLLM's class, if the policy differs from it."""
    kinds = config.get("layer_types")
    usual = ("sliding_attention", "full_attention")
    if isinstance(kinds, list) and any(kind != usual[number % 2] for number, kind in enumerate(kinds)):
        return "windows in layers other than every second (layer_types)"
    for name, value in (("swiglu_alpha", 1.702), ("swiglu_limit", 7.0)):
        if config.get(name, value) != value:
            return f"{name} = {config[name]} instead of {value}"
    return None


def _of_spec(config: Mapping[str, Any], spec: RunSpec) -> Iterator[tuple[Path, str]]:
    asked, known = spec.policy, support_of(config)
    longest = longest_sequence(config)
    where = ("rollout", "engine", "max_model_len") if spec.examples is None else ("objective", "max_tokens")
    if longest is not None and spec.window > longest:
        yield (
            where,
            f"The policy has {longest} positions, and sequences of {spec.window} tokens are requested: set"
            f" {'.'.join(where)} to {longest} or less.",
        )
    yield from of_context(config, spec.parallelism.context_parallel_size)
    if spec.examples is None:
        yield from _of_engine(config, spec, known)
    elif known is not None and known.bfloat16 is False and asked.dtype == "bfloat16":
        yield ("policy", "dtype"), f"{known.title} does not train in bfloat16: set policy.dtype to float32."
    if known is None:
        return
    if isinstance(asked.adapter, LoRAAdapter):
        yield from _of_adapter(asked.adapter, known.title, known.layers, lora=known.lora)
    yield from _of_routing(spec, known)


def _of_engine(config: Mapping[str, Any], spec: RunSpec, known: Support | None) -> Iterator[tuple[Path, str]]:
    engine, asked = spec.rollout.engine, spec.policy
    yield from of_devices(config, engine)
    if known is None:
        return
    if engine.dtype == "float16" and not known.float16:
        yield (
            ("rollout", "engine", "dtype"),
            f"{known.title} overflows in float16: set rollout.engine.dtype to bfloat16 or float32.",
        )
    if engine.quantization is not None and not known.fp8:
        yield (
            ("rollout", "engine", "quantization"),
            f"FP8 does not work with {known.title}: remove rollout.engine.quantization and choose bfloat16.",
        )
    if known.bfloat16 is False and "bfloat16" in (engine.dtype, asked.dtype):
        yield (
            ("policy", "dtype"),
            f"{known.title} does not train in bfloat16: set policy.dtype and rollout.engine.dtype to float32.",
        )


def _of_adapter(adapter: LoRAAdapter, title: str, layers: tuple[str, ...], *, lora: bool) -> Iterator[tuple[Path, str]]:
    if not lora:
        yield ("policy", "adapter"), f"LoRA does not work with {title}: train all weights (policy.adapter.type = none)."
    for index, name in enumerate(adapter.target_modules):
        if name.rpartition(".")[2] not in layers:
            yield (
                ("policy", "adapter", "target_modules", index),
                f"{title} has no linear layer {name!r}: it has {', '.join(layers)} (an empty list means all).",
            )


def _of_routing(spec: RunSpec, known: Support) -> Iterator[tuple[Path, str]]:
    routing, title = spec.policy.routing, known.title
    if not isinstance(routing.balance, NoBalancing) and not known.experts:
        yield (
            ("policy", "routing", "balance"),
            f"{title} has no experts to balance: set policy.routing.balance.type to none.",
        )
    elif isinstance(routing.balance, LossFreeBalancing) and not known.biased:
        yield (
            ("policy", "routing", "balance"),
            f"The routers of {title} have no bias that loss_free could move: set policy.routing.balance.type to "
            "auxiliary_loss.",
        )
    if routing.replay and not known.routes:
        reason = "the engine does not return its routes" if known.experts else "there are no experts"
        yield (
            ("policy", "routing", "replay"),
            f"Routes of {title} cannot be replayed, because {reason}: set policy.routing.replay to false.",
        )


def longest_sequence(config: Mapping[str, Any]) -> int | None:
    """Longest sequence in tokens that engines accept for this policy, or None if it does not say."""
    text = config.get("text_config") if isinstance(config.get("text_config"), Mapping) else config
    assert isinstance(text, Mapping)
    positions = text.get("max_position_embeddings")
    if type(positions) is not int:
        return None
    if "gemma3" in str(text.get("model_type")):
        return positions  # scaled already
    rope = text.get("rope_parameters") or text.get("rope_scaling") or {}
    if not isinstance(rope, Mapping):
        return positions
    nested = [one for one in rope.values() if isinstance(one, Mapping)]
    factor = 1.0
    for one in nested or [rope]:
        kind = one.get("rope_type", one.get("type", "default"))
        if kind not in _PRESCALED:
            factor = float(one.get("factor") or factor)
    return int(positions * factor)


def _choice(family: str = "") -> str:
    """A supported sibling of ``family``, or the whole list."""
    sibling = _SIBLINGS.get(family)
    if sibling is not None:
        return f"a policy of {ARCHITECTURES[sibling].title} ({sibling})"
    titles = [one.title for one in ARCHITECTURES.values() if one.trains]
    return f"one of {', '.join(titles)}"

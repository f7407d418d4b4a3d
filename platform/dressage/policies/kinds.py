"""Kinds of checkpoints that cannot be trained, told by their configuration and their files' names, with what to do."""

from collections.abc import Collection
from typing import Any

ADAPTER = (
    "It holds an adapter alone. Merge it into its base policy (merge_and_unload of PEFT, then save_pretrained), and "
    "take the result."
)
GGUF = (
    "It holds GGUF files, which are made for inference. Take the checkpoint that they were converted from; on the hub "
    "its name usually lacks the ending -GGUF."
)
_MXFP4 = (
    "Its weights are quantised (mxfp4), and training needs them whole. Load it with transformers and "
    "Mxfp4Config(dequantize=True), save it with save_pretrained, and register that folder."
)
_QUANTISED = (
    "Its weights are quantised ({method}), and training needs them whole. Take the checkpoint in bfloat16 that it was "
    "made from; where there is none, load it with transformers, dequantize() it, save it with save_pretrained, and "
    "register that folder."
)
_BESIDE_TEXT = (
    "It reads more than text ({architecture} has a {part}), and policies of text alone are trained here. Take the text "
    "policy of the same family, or save its language model alone with transformers and register that folder."
)
_ENCODER = (
    "It has an encoder beside its decoder ({architecture}), and decoders alone are trained here. Take a policy for "
    "causal language modelling, whose architecture ends in ForCausalLM."
)
_PARTS = ("vision_config", "audio_config", "visual", "vision_tower", "mm_vision_tower")


def unfit_files(names: Collection[str]) -> str | None:
    """Reason why files of these names hold no policy; None where they may, or where something plain is missing."""
    if "config.json" in names and any(
        name.endswith(".safetensors") and not name.startswith("adapter_") for name in names
    ):
        return None
    if "adapter_config.json" in names:
        return ADAPTER
    return GGUF if any(name.endswith(".gguf") for name in names) else None


def unfit_config(config: dict[str, Any]) -> str | None:
    """Reason why a checkpoint with this ``config.json`` cannot be trained; None where it may."""
    quantised = config.get("quantization_config") or config.get("compression_config")
    if isinstance(quantised, dict):
        method = str(quantised.get("quant_method") or "by a library")[:40]
        return _MXFP4 if method == "mxfp4" else _QUANTISED.format(method=method)
    architectures = config.get("architectures")
    architecture = str(architectures[0])[:80] if isinstance(architectures, list) and architectures else "it"
    part = next((name for name in _PARTS if config.get(name)), None)
    if part is not None:
        return _BESIDE_TEXT.format(architecture=architecture, part=part)
    return _ENCODER.format(architecture=architecture) if config.get("is_encoder_decoder") is True else None

"""Detects checkpoints that cannot be trained, from their configuration and file names, with advice."""

from collections.abc import Collection
from typing import Any

from trainer_core.support import refusal
from trainer_core.support.architectures import class_of

ADAPTER = (
    "It has only an adapter. Merge it into its base policy (merge_and_unload of PEFT, then save_pretrained), and use"
    " the result."
)
GGUF = (
    "It has GGUF files, which are for inference. Use the checkpoint that they were converted from; on the hub its name"
    " usually lacks the ending -GGUF."
)


def unfit_files(names: Collection[str]) -> str | None:
    """Reason why files with these names are not a policy; None if they may be, or if a regular file is missing."""
    if "config.json" in names and any(
        name.endswith(".safetensors") and not name.startswith("adapter_") for name in names
    ):
        return None
    if "adapter_config.json" in names:
        return ADAPTER
    return GGUF if any(name.endswith(".gguf") for name in names) else None


def unfit_config(config: dict[str, Any]) -> str | None:
    """Reason why a checkpoint with this ``config.json`` cannot be trained, with what to do; None if it can.

    A reward model is not a policy either, but rewards may use it.
    """
    if str(class_of(config)).endswith(("ForSequenceClassification", "ForTokenClassification")):
        return None
    return refusal(config)

"""Names of weights in memory and in files.

They differ if transformers joins what files store separately, such as the experts of a mixture. Engines and all other
readers use the names in the files.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor
from transformers import PreTrainedModel
from transformers.core_model_loading import revert_weight_conversion

from trainer_core.update.hybrid.lightning import is_constant
from trainer_core.update.hybrid.policy import biases

VALUE_HEAD = "value_head"
"""Name of a value head in the policy's module: it has its own step size and is not part of the policy."""


def apart(weights: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Split ``weights`` into the policy's and those of a value head."""
    head = {name: tensor for name, tensor in weights.items() if name.startswith(f"{VALUE_HEAD}.")}
    return {name: tensor for name, tensor in weights.items() if name not in head}, head


def as_in_files(model: PreTrainedModel, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights of ``model``, and its routers' biases, under the names and in the shapes of its files."""
    return layer_as_in_files(model, {**weights, **biases(model)})


def layer_of(name: str) -> str:
    """Key of the layer that a weight belongs to: its name up to the first number, otherwise its own."""
    found = re.match(r".*?\.\d+(?=\.)", name)
    return name if found is None else found.group()


def layer_as_in_files(model: PreTrainedModel, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights of one layer or more. Tensors that files split or join never cross a layer boundary."""
    found: dict[str, Tensor] = revert_weight_conversion(model, dict(weights))
    return found


def as_in_memory(model: PreTrainedModel, folder: Path, weights: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """Weights of a checkpoint's files, under the names and in the shapes that ``model`` has.

    Args:
        model: the policy.
        folder: the checkpoint.
        weights: as its files have them, including those of a value head, whose names never differ.

    Returns:
        ``weights`` themselves if the names agree, or if they are not this policy's, which the caller reports.
    """
    if all(name in weights for name, _ in model.named_parameters()):
        return weights
    loaded, info = type(model).from_pretrained(
        folder,
        local_files_only=True,
        trust_remote_code=False,
        use_safetensors=True,
        dtype=torch.float32,
        output_loading_info=True,
    )
    missing = [name for name in info["missing_keys"] if not is_constant(name)]
    if missing or info["mismatched_keys"]:
        return weights
    head = {name: tensor for name, tensor in weights.items() if name.startswith(f"{VALUE_HEAD}.")}
    return {**{name: parameter.detach() for name, parameter in loaded.named_parameters()}, **head}

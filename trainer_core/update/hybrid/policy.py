"""Preparation of a hybrid policy, or any policy with routers, after loading and before training."""

import re
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor, nn
from transformers import PretrainedConfig, PreTrainedModel
from transformers.models.minimax.modeling_minimax import MiniMaxPreTrainedModel

from trainer_core.update.hybrid.lightning import CONSTANTS, use_packed_lightning
from trainer_core.update.hybrid.router import BIAS, adapt_routers, add_biases, routers
from trainer_core.update.packed.attention import UnsupportedPolicy

HYBRID = "minimax"
LATENT = "deepseek_v3"
"""transformers' names of the architectures whose routers may have a bias."""
_LAYER = re.compile(r"\.layers\.(\d+)\.")

# The router in transformers has no bias, so biases are read from the files here; constants may be missing from files.
# Neither is a reason for a warning.
MiniMaxPreTrainedModel._keys_to_ignore_on_load_unexpected = [rf"\.{BIAS}$"]
MiniMaxPreTrainedModel._keys_to_ignore_on_load_missing = [rf"\.({'|'.join(CONSTANTS)})$"]


def mixing_types(config: PretrainedConfig) -> set[str]:
    """Kinds of layers, except attention, whose forward pass is replaced by one that keeps packed sequences separate."""
    return {"linear_attention"} if config.model_type == HYBRID else set()


def prepare(model: PreTrainedModel, folder: Path) -> None:
    """Replace the forward passes of lightning attention and routers, and read the routers' biases from the files.

    Raises:
        UnsupportedPolicy: a lightning layer is not of the expected form.
    """
    layers = getattr(model.config, "layer_types", None) or ()
    if use_packed_lightning(model) != sum(kind in mixing_types(model.config) for kind in layers):
        raise UnsupportedPolicy(
            f"{type(model).__name__} has layers that would mix packed sequences: choose a "
            "policy of an architecture in docs/architectures.md"
        )
    adapt_routers(model)
    take_biases(model, read_biases(folder))


def reads_biases(model: PreTrainedModel) -> bool:
    """Whether an engine reads the biases of this architecture's routers: in vLLM only DeepSeek's classes have them."""
    return model.config.model_type in (HYBRID, LATENT) and bool(routers(model))


def biases(model: nn.Module) -> dict[str, Tensor]:
    """The routers' biases by their names in memory; empty if they have none."""
    named = ((f"{name}.{BIAS}", getattr(module, BIAS, None)) for name, module in model.named_modules())
    return {name: bias.detach().clone() for name, bias in named if bias is not None}


@torch.no_grad()
def take_biases(model: nn.Module, found: Mapping[str, Tensor]) -> None:
    """Set the biases, given by their names in files or in memory; if none are given, existing biases become zero."""
    if found:
        add_biases(model)
    by_layer = {_layer(name): bias for name, bias in found.items()}
    for name, module in model.named_modules():
        bias = getattr(module, BIAS, None)
        if bias is not None:
            given = by_layer.get(_layer(f"{name}."))
            bias.zero_() if given is None else bias.copy_(given)


def read_biases(folder: Path) -> dict[str, Tensor]:
    """The biases that the safetensors files of a policy hold."""
    found: dict[str, Tensor] = {}
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, framework="pt") as file:
            found |= {name: file.get_tensor(name) for name in file.keys() if name.endswith(f".{BIAS}")}  # noqa: SIM118
    return found


def _layer(name: str) -> int:
    match = _LAYER.search(name)
    return -1 if match is None else int(match.group(1))

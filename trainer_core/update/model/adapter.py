"""LoRA on the policy: attached in place, switched off for the reference, merged for all other readers.

The layers are peft's. They are inside the policy's own modules, so that its output layer, its packed attention and
DeepSpeed's hooks work unchanged.
"""

import logging
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MethodType
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import PreTrainedModel

from trainer_core.spec.learner.adapter import Adapter as AdapterSpec
from trainer_core.spec.learner.adapter import LoRAAdapter, NoAdapter
from trainer_core.update.hybrid.routing import experts_per_token
from trainer_core.update.packed.attention import UnsupportedPolicy

FOLDER = "adapter"
"""Folder in a checkpoint that peft can read."""
FILE = "adapter_model.safetensors"
IN_FILES = "base_model.model."
"""Prefix that peft puts before the names of weights."""
BASE, DOWN, UP = ".base_layer.", ".lora_A.default.weight", ".lora_B.default.weight"


class _WideProduct(torch.autograd.Function):
    """Product in float32 of narrow input with a float32 matrix. Saves the input in its narrow type."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return nn.functional.linear(x.to(weight.dtype), weight)

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, Tensor]:
        x, weight = ctx.saved_tensors
        wide = x.to(weight.dtype).reshape(-1, x.shape[-1])
        return (slope @ weight).to(x.dtype), slope.reshape(-1, slope.shape[-1]).T @ wide


def _project_down(self: Any, x: Tensor) -> Tensor:
    if x.dtype == self.weight.dtype:
        return nn.functional.linear(x, self.weight)
    found: Tensor = _WideProduct.apply(x, self.weight)
    return found


class Adapter:
    """The adapter inside one policy."""

    def __init__(self, model: PreTrainedModel, spec: LoRAAdapter, *, seed: int, base: str) -> None:
        """Attach the adapter: from now on only its matrices have gradients.

        Args:
            model: the policy, changed in place.
            spec: rank, weight and layers.
            seed: the seed of the first A, the same on every rank.
            base: name of the base policy, for the adapter's own files.

        Raises:
            UnsupportedPolicy: the policy has no such linear layers.
        """
        # peft looks for quantisation libraries, one of which warns about a package with our name.
        logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
        from peft import LoraConfig, inject_adapter_in_model
        from peft.tuners.lora import LoraLayer

        self.config = LoraConfig(
            r=spec.rank,
            lora_alpha=spec.alpha,
            lora_dropout=0.0,
            target_modules=_targets(model, spec.target_modules),
            use_rslora=spec.use_rslora,
            task_type="CAUSAL_LM",
            base_model_name_or_path=base,
        )
        self.scaling = spec.alpha / (math.sqrt(spec.rank) if spec.use_rslora else spec.rank)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            inject_adapter_in_model(self.config, model)
        self._layers = [module for module in model.modules() if isinstance(module, LoraLayer)]
        for name, parameter in model.named_parameters():
            if name.endswith((DOWN, UP)):
                # peft gives it the type of its base layer; it is small, and it is all that is trained.
                parameter.data = parameter.data.float()
        layer: Any
        for layer in self._layers:
            # Otherwise every layer would keep a float32 copy of its input, though several read the same one.
            layer.cast_input_dtype_enabled = False
            for down in layer.lora_A.values():
                down.forward = MethodType(_project_down, down)

    @contextmanager
    def disabled(self) -> Iterator[None]:
        """Makes the policy compute as if it had no adapter, to the last bit, while open."""
        self._switch(off=True)
        try:
            yield
        finally:
            self._switch(off=False)

    def merged(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The policy's weights with the adapter merged in: W + s·B·A in float32 at least, other weights unchanged.

        Args:
            weights: by their names with the adapter attached.
        """
        found = {}
        for name, tensor in weights.items():
            if name.endswith((DOWN, UP)):
                continue
            layer, base, kind = name.rpartition(BASE)
            if base and kind == "weight":
                up, down = _wide(weights[layer + UP]), _wide(weights[layer + DOWN])
                tensor = torch.addmm(_wide(tensor), up, down, alpha=self.scaling)
            found[f"{layer}.{kind}" if base else name] = tensor
        return found

    def write(self, folder: Path, weights: Mapping[str, Tensor]) -> None:
        """Write the adapter's own weights into ``folder`` in peft's format."""
        own = {
            IN_FILES + name.replace(".default.", "."): tensor.contiguous()
            for name, tensor in weights.items()
            if name.endswith((DOWN, UP))
        }
        folder.mkdir()
        save_file(own, folder / FILE, metadata={"format": "pt"})
        self.config.inference_mode = True
        self.config.save_pretrained(str(folder))
        self.config.inference_mode = False

    def _switch(self, *, off: bool) -> None:
        # peft's own switch also disables the gradients of the matrices, and so the hooks that ZeRO puts on them.
        for layer in self._layers:
            layer._disable_adapters = off


def attach(model: PreTrainedModel, spec: AdapterSpec, *, seed: int, base: str) -> Adapter | None:
    """The adapter that ``spec`` requests, attached; None if every weight is trained."""
    return None if isinstance(spec, NoAdapter) else Adapter(model, spec, seed=seed, base=base)


def read(folder: Path) -> dict[str, Tensor]:
    """An adapter's weights from its file in ``folder``, by their names in memory.

    Raises:
        OSError: the file does not exist.
    """
    return {
        name.removeprefix(IN_FILES).replace(".lora_A.", ".lora_A.default.").replace(".lora_B.", ".lora_B.default."): one
        for name, one in load_file(folder / FILE).items()
    }


def _wide(tensor: Tensor) -> Tensor:
    return tensor if tensor.dtype == torch.float64 else tensor.float()


def _targets(model: PreTrainedModel, wanted: tuple[str, ...]) -> list[str]:
    """Last names of the linear layers to adapt; for a mixture of experts, only those of the attention.

    Given names that experts had in older files, peft adapts the joint tensors that hold them now, and not the layers
    that still have these names, such as those of shared experts.
    """
    output = model.get_output_embeddings()
    linear = {name for name, module in model.named_modules() if isinstance(module, nn.Linear) and module is not output}
    if experts_per_token(model) is not None:
        linear = {name for name in linear if ".mlp." not in name}
    known = sorted({name.rpartition(".")[2] for name in linear})
    for name in wanted:
        if not any(one == name or one.endswith(f".{name}") for one in linear):
            raise UnsupportedPolicy(
                f"the policy has no linear layer {name!r} to adapt; it has {', '.join(known)}: name some of these in "
                "policy.adapter.target_modules, or none for all of them"
            )
    return list(wanted) or known

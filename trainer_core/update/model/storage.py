"""Storage of a policy's activations between forward and backward pass, and of its weights in fewer bits."""

import os
from types import MethodType
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from transformers import PreTrainedModel

from trainer_core.update.device import host_copy, move
from trainer_core.update.model.norms import use_narrow_norms
from trainer_core.update.model.shards import WeightPlacement, WholeWeights

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
SMALLEST = 1 << 16
"""Size in bytes from which moving a tensor to the host and back is worthwhile."""

KERNELS = 128
"""Compiled 16-bit matrix products that the CPU's library caches: those of one micro-batch, with room to spare."""


def bound_kernels() -> None:
    """Make oneDNN cache ``KERNELS`` compiled products instead of 1,024. Must be called before the first of them.

    It compiles one for each shape and keeps some hundred kilobytes for each. Shapes of a mixture's experts hardly ever
    recur; those of a dense policy recur within their micro-batch.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", str(KERNELS))


def stored(model: PreTrainedModel, dtype: torch.dtype, placement: WeightPlacement | None = None) -> PreTrainedModel:
    """``model`` itself, its weights now in ``dtype``; buffers, such as rotary frequencies, keep their type.

    ``placement`` is the one used for loading.

    The output layer's products stay in float32: logits near 32 would be 0.25 apart in bfloat16.

    The checks that adapt a policy when it is loaded are sharp only in float32, so ``model`` must be in float32.
    """
    if dtype == torch.float32:
        return model
    for module in model.modules():
        if hasattr(module, "lean_epsilon"):
            # The policy's own normalisation always computes in float32; the lean one does not.
            del module.forward, module.lean_epsilon, module.normalise
    place = placement or WholeWeights()
    place.cast(model, dtype)
    with place.adapting(model):
        use_narrow_norms(model)
    head: Any = model.get_output_embeddings()
    linear = type(head) is nn.Linear
    if linear and not hasattr(head, "asked"):
        head.forward = MethodType(wide_product, head)
    return model


def wide_product(layer: Any, states: Tensor) -> Tensor:
    """A linear layer's product with sums and results in float32, for any type of input and weight."""
    bias = None if layer.bias is None else layer.bias.float()
    return nn.functional.linear(states.float(), layer.weight.float(), bias)


class HostMemory:
    """Moves what a model's forward pass saves to host memory until the backward pass needs it.

    Copies run on the model's own stream, in order with its kernels, so memory is not reused before it has been read.
    """

    def __init__(self, model: nn.Module, *, pinned: bool) -> None:
        """Watch every forward pass of ``model``.

        Args:
            model: any module.
            pinned: whether the host memory is page-locked, so that an accelerator can write to it directly.
        """
        self.moved = 0
        """Total bytes moved."""
        self._pinned = pinned
        self._open: list[saved_tensors_hooks] = []
        model.register_forward_pre_hook(self._enter)
        model.register_forward_hook(self._leave, always_call=True)

    def _enter(self, *_: Any) -> None:
        context = saved_tensors_hooks(self._pack, self._unpack)
        context.__enter__()
        self._open.append(context)

    def _leave(self, *_: Any) -> None:
        self._open.pop().__exit__(None, None, None)

    def _pack(self, tensor: Tensor) -> tuple[torch.device, Tensor]:
        size = tensor.numel() * tensor.element_size()
        if isinstance(tensor, nn.Parameter) or size < SMALLEST:
            return tensor.device, tensor
        self.moved += size
        return tensor.device, host_copy(tensor, pinned=self._pinned)

    def _unpack(self, packed: tuple[torch.device, Tensor]) -> Tensor:
        device, tensor = packed
        return move(tensor, device)

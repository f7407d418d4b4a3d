"""Storage of a policy's numbers between forward and backward pass, and of its weights in fewer bits."""

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
"""Bytes from which a tensor is worth the way to the host and back."""

KERNELS = 128
"""Compiled 16-bit matrix products that the CPU's library keeps: those of one micro-batch, with room to spare."""


def bound_kernels() -> None:
    """Have oneDNN keep ``KERNELS`` compiled products instead of 1,024; to be called before the first of them.

    It compiles one for each shape and keeps some hundred kilobytes of each. Shapes of a mixture's experts hardly ever
    come back, those of a dense policy within their micro-batch.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", str(KERNELS))


def stored(model: PreTrainedModel, dtype: torch.dtype, placement: WeightPlacement | None = None) -> PreTrainedModel:
    """``model`` itself, its weights now in ``dtype``; buffers, such as rotary frequencies, stay in theirs.

    ``placement`` is the one that it was loaded with.

    The output layer's products stay in float32: logits near 32 would be 0.25 apart in bfloat16.

    The checks that adapt a policy when it is loaded are sharp in float32 only: it comes in that.
    """
    if dtype == torch.float32:
        return model
    for module in model.modules():
        if hasattr(module, "lean_epsilon"):
            # The policy's own normalisation computes in float32 whatever it reads; the lean one does not.
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
    """A linear layer's product with sums and results in float32, whatever it reads and keeps."""
    bias = None if layer.bias is None else layer.bias.float()
    return nn.functional.linear(states.float(), layer.weight.float(), bias)


class HostMemory:
    """Takes what a model's forward pass saves to the memory of the host, until the backward pass wants it.

    Copies run on the model's own stream, in order with its kernels: memory is not reused before it has been read.
    """

    def __init__(self, model: nn.Module, *, pinned: bool) -> None:
        """Watch every forward pass of ``model``.

        Args:
            model: any module.
            pinned: whether the host's memory is page-locked, so that an accelerator can write to it by itself.
        """
        self.moved = 0
        """Bytes that were taken, in all."""
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

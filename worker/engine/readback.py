"""Read back the serving weights through the kernels that compute with them.

A kernel packs its weights, so they cannot be inspected directly. But its product with a unit vector is exactly one
column of the matrix, because all other terms are zeros. A few unit vectors cost as much as a decoding step with as many
sequences, and cover every row of every matrix, independent of prompts. Experts have no products that can be run on
their own. They are read from the memory that their kernel multiplies with; its layout is learnt from the kernel's own
packing (``packing``).

An engine stacks, renames and ties matrices. So the rows of the kernel that hold a checkpoint's tensor are found once,
at the start, by their values. A tensor whose values are not found (because the engine transforms it) is not read back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from worker.engine.packing import PackedLayout, packing_kernel
from worker.engine.recognition import Kernel, Samples, recognise

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class ReadBack:
    """Values of one tensor as a kernel computes with them."""

    name: str
    """Name of the tensor in the checkpoint."""
    place: str
    """Name of the engine's layer that holds it."""
    dtype: torch.dtype
    """Number type of the kernel's weights."""
    values: NDArray[np.float32]
    """Shape [N, C] for the rows and the requested columns of a matrix, [N] for a vector."""


class WeightReader:
    """Reads the weights that a model serves."""

    def __init__(
        self, model: torch.nn.Module, dtype: torch.dtype, device: torch.device, samples: Samples, wide_head: bool
    ) -> None:
        """Find the tensors that the loader has seen. ``wide_head``: the head computes in float32."""
        self._dtype, self._device, self._wide_head = dtype, device, wide_head
        self._found = recognise(_kernels(model, dtype, device), samples, self._type_of)
        names = {found.tensor for found in self._found}
        self.total = sum(samples.sizes.values())
        """Values in the checkpoint."""
        self.read_sizes = {name: samples.sizes[name] for name in names}
        """Values in each tensor that can be read back."""
        self.share = sum(self.read_sizes.values()) / self.total if self.total else 0.0
        """Share of the checkpoint's values in tensors that can be read back."""
        self.unread = sorted(set(samples.sizes) - names)
        """Tensors that cannot be read back."""

    @torch.no_grad()
    def read(self, columns: Mapping[int, NDArray[np.int64]]) -> list[ReadBack]:
        """Read columns from the kernels, by the width of the matrix; vectors are returned whole."""
        asked: dict[str, torch.Tensor] = {}
        answers = []
        for found in self._found:
            kernel = found.kernel
            if kernel.width is not None and kernel.width not in columns:
                continue
            wanted = torch.zeros(0, dtype=torch.int64)
            if kernel.width is not None:
                wanted = torch.as_tensor(columns[kernel.width], dtype=torch.int64)
            values = kernel.answer(wanted, asked)[found.first : found.first + found.rows]
            answers.append(ReadBack(found.tensor, kernel.name, self._type_of(kernel), values.float().cpu().numpy()))
        return answers

    def _type_of(self, kernel: Kernel) -> torch.dtype:
        if kernel.dtype is not None:
            return kernel.dtype
        return torch.float32 if self._wide_head and kernel.role == "head" else self._dtype


def _kernels(model: torch.nn.Module, dtype: torch.dtype, device: torch.device) -> list[Kernel]:
    from vllm.model_executor.layers.linear import LinearBase
    from vllm.model_executor.layers.logits_processor import LogitsProcessor
    from vllm.model_executor.layers.vocab_parallel_embedding import ParallelLMHead, VocabParallelEmbedding

    found: list[Kernel] = []
    processors = [module for module in model.modules() if isinstance(module, LogitsProcessor)]
    head: Any = getattr(model, "lm_head", None)
    if len(processors) == 1 and isinstance(head, VocabParallelEmbedding):
        found.append(_head("lm_head", processors[0], head, dtype, device))
    for name, module in model.named_modules():
        if isinstance(module, LinearBase):
            found.append(_linear(name, module, dtype, device))
        elif isinstance(module, VocabParallelEmbedding) and not isinstance(module, ParallelLMHead):
            found.append(_plain(name, "embedding", module, "weight", module.weight.shape[1]))
        joint = any(parameter.ndim == 3 for _, parameter in module.named_parameters(recurse=False))
        for own, parameter in module.named_parameters(recurse=False):
            if parameter.ndim == 1 and parameter.numel():
                found.append(_plain(f"{name}.{own}", "vector", module, own, None))
            elif parameter.ndim == 2 and parameter.numel() and joint:  # experts' biases, or a router's weights
                found.append(_plain(f"{name}.{own}", "linear", module, own, parameter.shape[1]))
            elif parameter.ndim == 3 and parameter.numel():
                found += _experts(name, module, own)
    return found


def _units(columns: torch.Tensor, width: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Unit vectors, [C, width]."""
    rows = torch.zeros(len(columns), width, dtype=dtype, device=device)
    rows[torch.arange(len(columns), device=device), columns.to(device)] = 1.0
    return rows


def _linear(name: str, module: Any, dtype: torch.dtype, device: torch.device) -> Kernel:
    # If several devices split the matrix by columns, only the columns on this device.
    width = int(getattr(module, "input_size_per_partition", module.input_size))

    def ask(columns: torch.Tensor) -> torch.Tensor:
        answer: torch.Tensor = module.quant_method.apply(module, _units(columns, width, dtype, device), None)
        return answer.T

    return Kernel(name, "linear", width, ask)


def _head(name: str, processor: Any, head: Any, dtype: torch.dtype, device: torch.device) -> Kernel:
    width = int(head.embedding_dim)

    def ask(columns: torch.Tensor) -> torch.Tensor:
        answer: torch.Tensor = processor._apply_head(head, _units(columns, width, dtype, device), None)
        return answer.T

    return Kernel(name, "head", width, ask)


def _plain(name: str, role: str, module: torch.nn.Module, own: str, width: int | None) -> Kernel:
    """A parameter that the layer's forward pass reads as it is."""

    def ask(columns: torch.Tensor) -> torch.Tensor:
        parameter: torch.Tensor = getattr(module, own)
        return parameter if width is None else parameter[:, columns.to(parameter.device)]

    dtype: torch.dtype = getattr(module, own).dtype
    return Kernel(name, role, width, ask, dtype)


def _experts(name: str, module: torch.nn.Module, own: str) -> Iterator[Kernel]:
    """The matrices of each expert, as stored and transposed: checkpoints may have either."""
    parameter: torch.Tensor = getattr(module, own)
    rows, width = parameter.shape[1:]
    kernel = packing_kernel(module)
    packing = None if kernel is None else PackedLayout.learn(kernel, width, parameter.dtype)
    if kernel is not None and packing is None:
        return
    if kernel is not None and own == "w2_weight":
        width = kernel.moe_config.intermediate_size_per_partition  # the rest is zeros

    def columns(asked: torch.Tensor) -> torch.Tensor:
        held: torch.Tensor = getattr(module, own)
        return held[:, :, asked.to(held.device)] if packing is None else packing.columns(held, asked)

    def transposed(asked: torch.Tensor) -> torch.Tensor:
        held: torch.Tensor = getattr(module, own)
        if packing is not None:
            return packing.rows(held, asked)[:, :width]
        return held[:, asked.to(held.device)].transpose(1, 2)

    for asked, size, ask in ((f"{name}.{own}", width, columns), (f"{name}.{own} transposed", rows, transposed)):
        for expert in range(len(parameter)):
            yield Kernel(f"{name}.{own}[{expert}]", "linear", size, ask, None, expert, asked)

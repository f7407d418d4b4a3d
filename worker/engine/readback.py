"""Reading the serving weights back, through the kernels that compute with them.

A kernel packs its weights; what it holds cannot be looked at. But it can be asked: the product with a unit vector is
one column of the matrix, to the last bit, because all other terms are zeros. A few unit vectors cost as much as a
decoding step of as many sequences and see every row of every matrix, whatever the policy makes of its prompts.

Which rows of which kernel hold a checkpoint's tensor is found out once, at the start, by their values: an engine stacks
matrices, renames and ties them. A tensor whose values are found nowhere (because the engine transforms it) is not read
back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COLUMNS = 8
"""Columns of a matrix by which it is recognised at the start."""


@dataclass(frozen=True, slots=True)
class ReadBack:
    """Values of one tensor as a kernel computes with them."""

    name: str
    """Name of the tensor in the checkpoint."""
    place: str
    """Name of the layer in the engine that was asked."""
    dtype: torch.dtype
    """Number type of the kernel's weights."""
    values: NDArray[np.float32]
    """Shape [N, C] for the rows and the asked columns of a matrix, [N] for a vector."""


def sample_columns(width: int, count: int = COLUMNS) -> list[int]:
    """Columns of a matrix, one in each of ``count`` strips of equal width; all of a narrow one."""
    if width <= count:
        return list(range(width))
    # The golden ratio puts them at places within their strips that no pattern of a tensor shares.
    return [int((strip + (strip * 0.6180339887498949) % 1.0) * width / count) for strip in range(count)]


@dataclass(frozen=True, slots=True)
class _Kernel:
    """A matrix that can be asked for columns, or a vector."""

    name: str
    role: str
    """"linear", "head", "embedding" or "vector": a tied tensor serves in more than one."""
    width: int | None
    """Columns of the matrix; None of a vector."""
    ask: Callable[[torch.Tensor], torch.Tensor]
    """Columns → their values, [rows, C]; a vector answers [rows] to anything."""


@dataclass(frozen=True, slots=True)
class _Found:
    tensor: str
    kernel: _Kernel
    first: int
    rows: int


class Samples:
    """Values of the tensors that the loader sees: enough to recognise each in a kernel."""

    def __init__(self) -> None:
        self.values: dict[str, torch.Tensor] = {}
        self.widths: dict[str, int | None] = {}
        self.sizes: dict[str, int] = {}

    def take(self, name: str, tensor: torch.Tensor) -> None:
        """Note some columns of a matrix, or a vector."""
        self.sizes[name] = tensor.numel()
        if tensor.ndim == 2:
            self.widths[name] = tensor.shape[1]
            self.values[name] = tensor[:, sample_columns(tensor.shape[1])].detach().clone()
        elif tensor.ndim == 1:
            self.widths[name] = None
            self.values[name] = tensor.detach().clone()


class WeightReader:
    """Reader of the weights that a model serves."""

    def __init__(
        self, model: torch.nn.Module, dtype: torch.dtype, device: torch.device, samples: Samples, wide_head: bool
    ) -> None:
        """Recognise the tensors that the loader has seen. ``wide_head``: the head computes in float32."""
        self._dtype, self._device, self._wide_head = dtype, device, wide_head
        self._found = _recognise(_kernels(model, dtype, device), samples, self._type_of)
        names = {found.tensor for found in self._found}
        total = sum(samples.sizes.values())
        self.share = sum(samples.sizes[name] for name in names) / total if total else 0.0
        """Share of the checkpoint's values that lie in tensors that can be read back."""
        self.unread = sorted(set(samples.sizes) - names)
        """Tensors that cannot be read back."""

    @torch.no_grad()
    def read(self, columns: Mapping[int, NDArray[np.int64]]) -> list[ReadBack]:
        """Ask the kernels for columns, by the width of the matrix; vectors are answered whole."""
        asked: dict[str, torch.Tensor] = {}
        answers = []
        for found in self._found:
            kernel = found.kernel
            if kernel.width is not None and kernel.width not in columns:
                continue
            key = f"{kernel.role} {kernel.name}"
            if key not in asked:
                wanted = torch.zeros(0, dtype=torch.int64)
                if kernel.width is not None:
                    wanted = torch.as_tensor(columns[kernel.width], dtype=torch.int64)
                asked[key] = kernel.ask(wanted)
            values = asked[key][found.first : found.first + found.rows]
            answers.append(ReadBack(found.tensor, kernel.name, self._type_of(kernel), values.float().cpu().numpy()))
        return answers

    def _type_of(self, kernel: _Kernel) -> torch.dtype:
        return torch.float32 if self._wide_head and kernel.role == "head" else self._dtype


def _kernels(model: torch.nn.Module, dtype: torch.dtype, device: torch.device) -> list[_Kernel]:
    from vllm.model_executor.layers.linear import LinearBase
    from vllm.model_executor.layers.logits_processor import LogitsProcessor
    from vllm.model_executor.layers.vocab_parallel_embedding import ParallelLMHead, VocabParallelEmbedding

    found: list[_Kernel] = []
    processors = [module for module in model.modules() if isinstance(module, LogitsProcessor)]
    head: Any = getattr(model, "lm_head", None)
    if len(processors) == 1 and isinstance(head, VocabParallelEmbedding):
        found.append(_head("lm_head", processors[0], head, dtype, device))
    for name, module in model.named_modules():
        if isinstance(module, LinearBase):
            found.append(_linear(name, module, dtype, device))
        elif isinstance(module, VocabParallelEmbedding) and not isinstance(module, ParallelLMHead):
            found.append(_plain(name, "embedding", module, "weight", module.weight.shape[1]))
        for own, parameter in module.named_parameters(recurse=False):
            if parameter.ndim == 1 and parameter.numel():
                found.append(_plain(f"{name}.{own}", "vector", module, own, None))
            elif parameter.ndim == 3 and parameter.numel():
                found += [_slice(f"{name}.{own}[{i}]", module, own, i) for i in range(parameter.shape[0])]
    return found


def _units(columns: torch.Tensor, width: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Unit vectors, [C, width]."""
    rows = torch.zeros(len(columns), width, dtype=dtype, device=device)
    rows[torch.arange(len(columns), device=device), columns.to(device)] = 1.0
    return rows


def _linear(name: str, module: Any, dtype: torch.dtype, device: torch.device) -> _Kernel:
    width = int(module.input_size)

    def ask(columns: torch.Tensor) -> torch.Tensor:
        answer: torch.Tensor = module.quant_method.apply(module, _units(columns, width, dtype, device), None)
        return answer.T

    return _Kernel(name, "linear", width, ask)


def _head(name: str, processor: Any, head: Any, dtype: torch.dtype, device: torch.device) -> _Kernel:
    width = int(head.embedding_dim)

    def ask(columns: torch.Tensor) -> torch.Tensor:
        answer: torch.Tensor = processor._apply_head(head, _units(columns, width, dtype, device), None)
        return answer.T

    return _Kernel(name, "head", width, ask)


def _plain(name: str, role: str, module: torch.nn.Module, own: str, width: int | None) -> _Kernel:
    """A parameter that the layer's forward pass reads as it is."""

    def ask(columns: torch.Tensor) -> torch.Tensor:
        parameter: torch.Tensor = getattr(module, own)
        return parameter if width is None else parameter[:, columns.to(parameter.device)]

    return _Kernel(name, role, width, ask)


def _slice(name: str, module: torch.nn.Module, own: str, index: int) -> _Kernel:
    """One matrix of many in a parameter, such as an expert's."""
    width = int(getattr(module, own).shape[2])

    def ask(columns: torch.Tensor) -> torch.Tensor:
        parameter: torch.Tensor = getattr(module, own)
        return parameter[index][:, columns.to(parameter.device)]

    return _Kernel(name, "linear", width, ask)


def _recognise(kernels: list[_Kernel], samples: Samples, type_of: Callable[[_Kernel], torch.dtype]) -> list[_Found]:
    """The tensors in the kernels: where the values are the same, and the name the most alike."""
    candidates: dict[tuple[str, str], list[tuple[int, _Found]]] = {}
    by_width: dict[int | None, list[str]] = {}
    for tensor, width in samples.widths.items():
        by_width.setdefault(width, []).append(tensor)
    for kernel in kernels:
        if kernel.width not in by_width:
            continue
        columns = torch.as_tensor(sample_columns(kernel.width) if kernel.width else [], dtype=torch.int64)
        try:
            held = kernel.ask(columns).float().cpu()
        except (RuntimeError, NotImplementedError, AttributeError):
            continue  # a layer that cannot be asked alone, such as one that the attention has absorbed
        left = len(held)
        for tensor in sorted(by_width[kernel.width], key=lambda tensor: -_likeness(tensor, kernel.name)):
            expected = samples.values[tensor].to(type_of(kernel)).float().cpu()
            first = _find(held, expected)
            if first is not None:
                found = _Found(tensor, kernel, first, len(expected))
                candidates.setdefault((tensor, kernel.role), []).append((_likeness(tensor, kernel.name), found))
                left -= len(expected)
            if left <= 0:
                break  # all rows are known: less alike names need not be looked at
    return [best for group in candidates.values() if (best := _only_best(group)) is not None]


def _find(held: torch.Tensor, expected: torch.Tensor) -> int | None:
    """First of the rows of ``held`` that are ``expected``; None where there are none, or more than one such place."""
    rows = len(expected)
    if rows > len(held) or not rows:
        return None
    flat = expected.abs() if expected.ndim == 1 else expected.abs().amax(dim=1)
    marked = int(flat.argmax())
    alike = held[marked : len(held) - rows + marked + 1] == expected[marked]
    starts = torch.nonzero(alike if alike.ndim == 1 else alike.all(dim=1))[:, 0].tolist()
    places = [start for start in starts if torch.equal(held[start : start + rows], expected)]
    return places[0] if len(places) == 1 else None


def _likeness(tensor: str, kernel: str) -> int:
    """Leading and trailing parts that two dotted names share."""
    mine, theirs = tensor.split("."), kernel.split(".")
    pairs = list(zip(mine, theirs, strict=False))
    leading = next((index for index, (a, b) in enumerate(pairs) if a != b), len(pairs))
    last = set(mine[-2:]) & set(theirs[-2:])
    return 2 * leading + len(last)


def _only_best(group: list[tuple[int, _Found]]) -> _Found | None:
    best = max(likeness for likeness, _ in group)
    found = [one for likeness, one in group if likeness == best]
    return found[0] if len(found) == 1 else None

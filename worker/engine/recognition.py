"""Match a checkpoint's tensors with the rows of kernels by their values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import torch

from trainer_core.update.formats.joint import matrices

NUMBERS = re.compile(r"(?<=[.\[])\d+")
"""Numbers in a tensor's name: the layer's and the expert's."""
ODD = 0x9E3779B97F4A7C15
"""An odd number whose powers show no pattern."""
COLUMNS = 8
"""Number of columns by which a matrix is recognised at the start."""


def sample_columns(width: int, count: int = COLUMNS) -> list[int]:
    """Columns of a matrix, one in each of ``count`` strips of equal width; all columns if it is narrow."""
    if width <= count:
        return list(range(width))
    # The golden ratio varies their positions within the strips, so that they match no pattern in a tensor.
    return [int((strip + (strip * 0.6180339887498949) % 1.0) * width / count) for strip in range(count)]


@dataclass(frozen=True, slots=True)
class Kernel:
    """A matrix whose columns can be read, or a vector."""

    name: str
    role: str
    """"linear", "head", "embedding" or "vector". A tied tensor has more than one role."""
    width: int | None
    """Number of columns of the matrix; None for a vector."""
    ask: Callable[[torch.Tensor], torch.Tensor]
    """Columns → their values, [rows, C], or [E, rows, C] for experts; a vector always returns [rows]."""
    dtype: torch.dtype | None = None
    """Number type of a parameter that is read directly; None if a kernel in the engine's type computes with it."""
    expert: int | None = None
    """Number of the expert that the matrix belongs to."""
    asked: str = ""
    """Key of the result of ``ask``, which all experts of a layer share; empty: the role and the name."""

    def answer(self, columns: torch.Tensor, known: dict[str, torch.Tensor]) -> torch.Tensor:
        """The values, [rows, C]. Results that are already ``known`` are reused."""
        key = self.asked or f"{self.role} {self.name}"
        if key not in known:
            known[key] = self.ask(columns)
        return known[key] if self.expert is None else known[key][self.expert]


@dataclass(frozen=True, slots=True)
class TensorPlace:
    """A checkpoint tensor and its place in a kernel."""

    tensor: str
    kernel: Kernel
    first: int
    """First of the rows that hold it."""
    rows: int


class Samples:
    """Sampled values of the tensors that the loader sees: enough to recognise each in a kernel."""

    def __init__(self) -> None:
        self.values: dict[str, torch.Tensor] = {}
        self.widths: dict[str, int | None] = {}
        self.sizes: dict[str, int] = {}

    def take(self, name: str, tensor: torch.Tensor) -> None:
        """Record some columns of a matrix or of each expert's matrix in a joint tensor, or a whole vector."""
        found = list(matrices(name, tensor))
        if not found:
            self.sizes[name] = tensor.numel()
        for part, values in found:
            self.sizes[part] = values.numel()
            self.widths[part] = None if values.ndim == 1 else values.shape[1]
            chosen = values if values.ndim == 1 else values[:, sample_columns(values.shape[1])]
            self.values[part] = chosen.detach().clone()


def recognise(kernels: list[Kernel], samples: Samples, type_of: Callable[[Kernel], torch.dtype]) -> list[TensorPlace]:
    """Find the tensors in the kernels: the values must be equal, and the most similar name wins."""
    candidates: dict[tuple[str, str], list[tuple[int, TensorPlace]]] = {}
    by_width: dict[int | None, list[str]] = {}
    for tensor, width in samples.widths.items():
        by_width.setdefault(width, []).append(tensor)
    marks: dict[tuple[int, torch.dtype], _Marks] = {}
    known: dict[str, torch.Tensor] = {}
    for kernel in kernels:
        if kernel.width not in by_width:
            continue
        if not kernel.expert:
            known.clear()  # the first expert of a layer reads all of them
        columns = torch.as_tensor(sample_columns(kernel.width) if kernel.width else [], dtype=torch.int64)
        try:
            held = kernel.answer(columns, known).float().cpu()
        except (RuntimeError, NotImplementedError, AttributeError):
            continue  # a layer that cannot run on its own, such as one absorbed by attention
        dtype = type_of(kernel)
        if kernel.width is None:
            places = _vectors(kernel, held, by_width[None], samples, dtype)
        else:
            key = (kernel.width, dtype)
            if key not in marks:
                marks[key] = _Marks({name: samples.values[name] for name in by_width[kernel.width]}, dtype)
            places = marks[key].places(held)
        for tensor, first in places:
            found = TensorPlace(tensor, kernel, first, len(samples.values[tensor]))
            candidates.setdefault((tensor, kernel.role), []).append((_likeness(tensor, kernel.name), found))
    return [best for group in candidates.values() if (best := _only_best(group)) is not None]


def _vectors(
    kernel: Kernel, held: torch.Tensor, names: list[str], samples: Samples, dtype: torch.dtype
) -> Iterator[tuple[str, int]]:
    """Vectors among ``names`` that a kernel holds, each with its first position."""
    left = len(held)
    for name in sorted(names, key=lambda name: -_likeness(name, kernel.name)):
        expected = samples.values[name].to(dtype).float().cpu()
        first = _find(held, expected)
        if first is not None:
            yield name, first
            left -= len(expected)
        if left <= 0:
            return  # all places are known: skip less similar names


class _Marks:
    """Index of matrices by their most distinctive row, so that thousands of experts need no pairwise comparison."""

    def __init__(self, values: Mapping[str, torch.Tensor], dtype: torch.dtype) -> None:
        """``values``: sampled columns by name, as a kernel holds them in ``dtype``."""
        self._values, self._dtype = values, dtype
        self._marked: dict[int, list[tuple[str, int]]] = {}
        for name, sampled in values.items():
            expected = self._held(sampled)
            row = int(expected.abs().amax(dim=1).argmax())
            self._marked.setdefault(int(_digests(expected[row : row + 1])[0]), []).append((name, row))
        self._digests = torch.tensor(list(self._marked), dtype=torch.int64)

    def places(self, held: torch.Tensor) -> Iterator[tuple[str, int]]:
        """Matrices that occur exactly once in ``held``, with their first row."""
        digests = _digests(held)
        at: dict[int, list[int]] = {}
        for row in torch.nonzero(torch.isin(digests, self._digests))[:, 0].tolist():
            at.setdefault(int(digests[row]), []).append(row)
        for digest, rows in at.items():
            for name, marked in self._marked[digest]:
                expected = self._held(self._values[name])
                starts = [row - marked for row in rows if 0 <= row - marked <= len(held) - len(expected)]
                found = [start for start in starts if torch.equal(held[start : start + len(expected)], expected)]
                if len(found) == 1:
                    yield name, found[0]

    def _held(self, sampled: torch.Tensor) -> torch.Tensor:
        return sampled.to(self._dtype).float().cpu()


def _digests(rows: torch.Tensor) -> torch.Tensor:
    """A hash for each row of a float32 matrix [N, C], int64 [N]. Equal rows have equal hashes."""
    factors = torch.tensor([pow(ODD, index + 1, 2**62) for index in range(rows.shape[1])])
    return ((rows + 0.0).contiguous().view(torch.int32).long() * factors).sum(dim=1)  # 0.0 and -0.0 are equal


def _find(held: torch.Tensor, expected: torch.Tensor) -> int | None:
    """Position of the vector ``expected`` in ``held``; None unless it occurs exactly once."""
    rows = len(expected)
    if rows > len(held) or not rows:
        return None
    marked = int(expected.abs().argmax())
    starts = torch.nonzero(held[marked : len(held) - rows + marked + 1] == expected[marked])[:, 0].tolist()
    places = [start for start in starts if torch.equal(held[start : start + rows], expected)]
    return places[0] if len(places) == 1 else None


def _likeness(tensor: str, kernel: str) -> int:
    """Leading and trailing parts that two dotted names share, and whether all their numbers are the same."""
    mine, theirs = tensor.split("."), kernel.split(".")
    pairs = list(zip(mine, theirs, strict=False))
    leading = next((index for index, (a, b) in enumerate(pairs) if a != b), len(pairs))
    last = set(mine[-2:]) & set(theirs[-2:])
    return 2 * leading + len(last) + (NUMBERS.findall(tensor) == NUMBERS.findall(kernel))


def _only_best(group: list[tuple[int, TensorPlace]]) -> TensorPlace | None:
    best = max(likeness for likeness, _ in group)
    found = [one for likeness, one in group if likeness == best]
    return found[0] if len(found) == 1 else None

"""Tensors in files, each read on access, so that a whole policy never has to be in memory."""

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor

Shape = tuple[int, ...]


class StoredTensors(Mapping[str, Tensor]):
    """Tensors of safetensors files by name. If several files have a name, the last one counts."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """Read the files' headers; their tensors stay on disk.

        Raises:
            OSError: a file is missing.
        """
        self._files: dict[str, Any] = {}
        self.shapes: dict[str, Shape] = {}
        """Shape of each tensor."""
        for path in paths:
            file = _opened(path)
            for name in file.keys():  # noqa: SIM118 - not a mapping
                self._files[name] = file
                self.shapes[name] = tuple(file.get_slice(name).get_shape())

    def __getitem__(self, name: str) -> Tensor:
        found: Tensor = self._files[name].get_tensor(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


class JoinedTensors(Mapping[str, Tensor]):
    """Tensors of which each file holds a flat part under the same name."""

    def __init__(self, paths: Sequence[Path], expected: Mapping[str, Shape]) -> None:
        """Read the files' headers, in order.

        Args:
            paths: the files.
            expected: shapes that the tensors must have; the parts do not store them.

        Raises:
            OSError: a file is missing.
        """
        self._parts = [StoredTensors([path]) for path in paths]
        self.shapes: dict[str, Shape] = {}
        """Shape of each tensor: as expected, or flat if the parts have a different number of elements."""
        for name in dict.fromkeys(name for part in self._parts for name in part):
            count = sum(prod(part.shapes.get(name, (0,))) for part in self._parts)
            shape = expected.get(name)
            self.shapes[name] = shape if shape is not None and prod(shape) == count else (count,)

    def __getitem__(self, name: str) -> Tensor:
        parts = [part[name] for part in self._parts if name in part]
        if not parts:
            raise KeyError(name)
        return torch.cat(parts).view(self.shapes[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.shapes)

    def __len__(self) -> int:
        return len(self.shapes)


def _opened(path: Path) -> Any:
    if not path.is_file():
        raise FileNotFoundError(2, "No such file or directory", str(path))
    return safe_open(path, framework="pt")

"""Locations in a model's parameters where the tensors of its checkpoint end up.

vLLM joins tensors that are separate in the files, such as queries, keys and values. Only the model's own loading code
knows which rows of which parameter a tensor becomes, so one load is watched, copy by copy. A tensor has a known place
only if it is copied whole and packing the layer leaves it unchanged. Others are always loaded through the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode


class LandingWatch(TorchDispatchMode):
    """Watches the copies made while the tensors of ``following`` are loaded."""

    def __init__(self) -> None:
        super().__init__()
        self._found: dict[str, Tensor | None] = {}
        self._loading: tuple[str, Tensor] | None = None

    def following(self, tensors: Iterable[tuple[str, Tensor]]) -> Iterator[tuple[str, Tensor]]:
        """Yields the tensors unchanged. Copies count for the last one yielded, until the next is requested."""
        for name, tensor in tensors:
            self._loading = name, tensor
            yield name, tensor
        self._loading = None

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run the operation, and record the target of a copy."""
        if func is torch.ops.aten.copy_.default and self._loading is not None:
            name, tensor = self._loading
            to, source = args[0], args[1]
            whole = source.data_ptr() == tensor.data_ptr() and source.numel() == tensor.numel() == to.numel()
            alone = whole and name not in self._found and source.is_contiguous() and to.is_contiguous()
            self._found[name] = to.detach().view(-1) if alone else None
        return func(*args, **(kwargs or {}))

    def places(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Flat views, by name, of the parameters that hold ``tensors``. Some tensors may be missing."""
        return {
            name: place
            for name, place in self._found.items()
            if place is not None and torch.equal(place, tensors[name].reshape(-1).to(place))
        }


def owners(
    places: Iterable[Tensor], parameters: Sequence[tuple[torch.nn.Module, str, torch.nn.Parameter]]
) -> list[torch.nn.Module]:
    """Modules that own the parameters at ``places``."""
    storages = {place.untyped_storage().data_ptr() for place in places}
    found = {id(module): module for module, _, one in parameters if one.untyped_storage().data_ptr() in storages}
    return list(found.values())

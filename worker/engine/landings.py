"""Places in a model's parameters at which the tensors of its checkpoint end up.

vLLM joins what files hold apart, such as queries, keys and values. Which rows of which parameter a tensor becomes only
the model's own loading knows, so it is watched once, copy by copy. Only what is copied whole and stays as it was when
the layer has been packed has a place; the others are loaded through the model every time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode


class LandingWatch(TorchDispatchMode):
    """Watches the copies that are made while the tensors of ``following`` are loaded."""

    def __init__(self) -> None:
        super().__init__()
        self._found: dict[str, Tensor | None] = {}
        self._loading: tuple[str, Tensor] | None = None

    def following(self, tensors: Iterable[tuple[str, Tensor]]) -> Iterator[tuple[str, Tensor]]:
        """The tensors as they are; each is taken for the one that is loaded until the next is asked for."""
        for name, tensor in tensors:
            self._loading = name, tensor
            yield name, tensor
        self._loading = None

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run the operation, and note where a copy goes."""
        if func is torch.ops.aten.copy_.default and self._loading is not None:
            name, tensor = self._loading
            to, source = args[0], args[1]
            whole = source.data_ptr() == tensor.data_ptr() and source.numel() == tensor.numel() == to.numel()
            alone = whole and name not in self._found and source.is_contiguous() and to.is_contiguous()
            self._found[name] = to.detach().view(-1) if alone else None
        return func(*args, **(kwargs or {}))

    def places(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Flat views of the parameters that hold what ``tensors`` brought, by name; of some only."""
        return {
            name: place
            for name, place in self._found.items()
            if place is not None and torch.equal(place, tensors[name].reshape(-1).to(place))
        }


def owners(
    places: Iterable[Tensor], parameters: Sequence[tuple[torch.nn.Module, str, torch.nn.Parameter]]
) -> list[torch.nn.Module]:
    """Modules whose parameters lie where ``places`` are."""
    storages = {place.untyped_storage().data_ptr() for place in places}
    found = {id(module): module for module, _, one in parameters if one.untyped_storage().data_ptr() in storages}
    return list(found.values())

"""Versions of the weights as a learner publishes them: whole, or as changes since the last version.

version 1      2        3          4      …     9
whole ────► changes ► changes ► changes ► … ► whole     once changes add up to half of it, or are many

An engine with the previous version applies the last changes. One that has missed some applies those too, and one that
has nothing loads the whole and all changes since. So a bundle is self-contained, and no side ever holds a second whole
copy besides the store's: the learner reads what it compares with from the store, tensor by tensor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from worker.learner.transport.arrays import size_of
from worker.learner.transport.base import Tensors, WeightTransport
from worker.learner.transport.object_store import IN_BUNDLE

if TYPE_CHECKING:
    from torch import Tensor

WORTH = 0.5
"""Share of the whole beyond which no more changes are added to the chain."""
LONGEST = 64
"""Most changes in a row, however small: every bundle names them all, and a fresh engine applies them all."""
PATIENCE = 16
"""Versions that are published whole after one in which too much had changed. Then changes are tried again."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Differences between a version and the previous one."""

    before: str
    """Key of the weights that the changes apply to."""
    after: str
    """Key of the resulting weights."""
    packed: Any
    """Tensors as their transport has packed them, named as in ``trainer_core/update/formats/changes.py``."""
    digests: Mapping[str, bytes]
    """Digest, after the change, of every tensor that was changed by places and values."""
    size: int
    """Bytes of the tensors."""


class Publication:
    """State of what has been published so far. Lives in rank 0 of the learner."""

    def __init__(self, transport: WeightTransport, *, smallest: int = IN_BUNDLE) -> None:
        """Publish through ``transport``. Policies of up to ``smallest`` bytes always travel whole."""
        self.transport, self._smallest = transport, smallest
        self._for_changes = transport.for_changes()
        self.base: Any = None
        """The last whole weights, as the transport has packed them."""
        self.chain: tuple[Changes, ...] = ()
        """Changes since then."""
        self.key = ""
        """Name of exactly the weights published last."""
        self.base_key = ""
        self._size = 0
        self._rests = 0

    def add(self, version: int, layers: Iterable[Tensors], *, whole: bool = False) -> None:
        """Publish a version; ``layers`` is iterated once. With ``whole`` all weights travel, whatever has changed.

        The previous version stays readable until the next is published: engines may not have loaded it yet.
        """
        self.transport.keep([*([] if self.base is None else [self.base]), *(one.packed for one in self.chain)])
        key = f"{version}-{uuid4().hex}"
        if whole or self._starts_anew():
            self._size, narrow = 0, [False]
            self.base = self.transport.pack(version, self._measured(layers, narrow))
            self.key, self.base_key, self.chain = key, key, ()
            if not narrow[0]:
                self._rests = PATIENCE
            return
        digests: dict[str, bytes] = {}
        sizes: list[int] = []
        packed = self._for_changes.pack(version, self._differences(layers, digests, sizes))
        self.chain += (Changes(self.key, key, packed, digests, sum(sizes)),)
        self.key = key
        if sum(sizes) > WORTH * self._size:
            self._rests = PATIENCE

    def _starts_anew(self) -> bool:
        if self.base is None or self._size <= self._smallest or not self.transport.lasts:
            return True
        if self._rests:
            self._rests -= 1
            return True
        return len(self.chain) >= LONGEST or sum(one.size for one in self.chain) > WORTH * self._size

    def _measured(self, layers: Iterable[Tensors], narrow: list[bool]) -> Iterator[Tensors]:
        for layer in layers:
            self._size += sum(size_of(tensor) for tensor in layer.values())
            narrow[0] = narrow[0] or any(one.element_size() == 2 for one in layer.values())
            yield layer

    def _differences(self, layers: Iterable[Tensors], digests: dict[str, bytes], sizes: list[int]) -> Iterator[Tensors]:
        from trainer_core.update.formats.changes import PLACES, Changed, difference, digest

        unpack = self.transport.unpack
        known = Changed(unpack(self.base), [unpack(changes.packed) for changes in self.chain])
        for layer in layers:
            found: dict[str, Tensor] = {}
            for name, tensor in layer.items():
                changed = difference(name, known[name], tensor)
                if name + PLACES in changed:
                    digests[name] = digest(tensor)
                found |= changed
            sizes.append(sum(size_of(tensor) for tensor in found.values()))
            if found:
                yield found

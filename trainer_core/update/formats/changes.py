"""Bit-exact changes of weights since the previous version, and a proof that nothing else has changed.

In a step of usual size, 2 to 3 % of 16-bit weights change; the rest round to their old value. The change of a tensor is
its places and new values, or the whole tensor if that is no larger. Places and values come with a digest of the whole
tensor as the learner has it afterwards. A receiver that has applied them checks it to prove that it holds the same
numbers.

A usual step moves a weight to a neighbouring number. Such small moves take two bytes each: the distance from the
previous place, and the difference of the bits read as integers. So 2.5 % of the weights take 2.5 % of the bytes;
separate places and values would take three times as much.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
from blake3 import blake3
from torch import Tensor

PLACES, VALUES = ":places", ":values"
"""Suffixes of the names under which places (int32) and values of a tensor are sent; a whole tensor has its own name."""
GAPS, STEPS = ":gaps", ":steps"
"""Suffixes for the small moves of a tensor: distances between places (uint8, the first from 0), and what is added to
the bits of the values there (int8). Its other changes, of which there may be none, have ``PLACES`` and ``VALUES``."""
WIDEST = 255
"""Largest distance. A longer one is split into several, with a step of 0 at each stop."""
SMALLEST = 4096
"""Smallest number of elements for which finding the places is worthwhile."""


def digest(tensor: Tensor) -> bytes:
    """BLAKE3 of a tensor's bytes."""
    # Any: numpy's stubs do not say that an array is a buffer before Python 3.12.
    raw: Any = tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy()
    found: bytes = blake3(raw).digest()
    return found


def difference(name: str, before: Tensor, after: Tensor) -> dict[str, Tensor]:
    """Tensors that turn ``before`` into ``after``, by the names under which they are sent; empty if no bit differs."""
    before, after = before.reshape(-1), after.reshape(-1)
    if after.dtype.itemsize != 2 or after.numel() < SMALLEST or after.numel() >= 1 << 31:
        same = torch.equal(before.view(torch.uint8), after.view(torch.uint8))
        return {} if same else {name: after}
    places = (before.view(torch.int16) != after.view(torch.int16)).nonzero().squeeze(1)
    if not len(places):
        return {}
    if len(places) * 3 >= after.numel():
        return {name: after}
    steps = after.view(torch.int16)[places].int() - before.view(torch.int16)[places].int()
    near = steps.abs() <= 127
    moves = _moves(places[near], steps[near])
    if moves is None:
        return {name + PLACES: places.int(), name + VALUES: after[places]}
    far, (gaps, small) = places[~near], moves
    return {name + PLACES: far.int(), name + VALUES: after[far], name + GAPS: gaps, name + STEPS: small}


def _moves(places: Tensor, steps: Tensor) -> tuple[Tensor, Tensor] | None:
    """Gaps and steps of small moves; None if places and values are no larger."""
    gaps = places.diff(prepend=places.new_zeros(1))
    stops = (gaps - 1).clamp(min=0) // WIDEST
    total = len(places) + int(stops.sum())
    if total >= 3 * len(places):
        return None
    # Each move follows its stops.
    ends = torch.arange(len(places), device=places.device) + stops.cumsum(0)
    found = torch.full((total,), WIDEST, dtype=torch.uint8, device=places.device)
    found[ends] = (gaps - WIDEST * stops).to(torch.uint8)
    small = torch.zeros(total, dtype=torch.int8, device=places.device)
    small[ends] = steps.to(torch.int8)
    return found, small


def touched(changes: Iterable[str]) -> set[str]:
    """Names of the tensors that change, from the names under which changes are sent."""
    return {name.removesuffix(PLACES) for name in changes if not name.endswith((VALUES, GAPS, STEPS))}


def fault(tensor: Tensor, name: str, changes: Mapping[str, Tensor]) -> str | None:
    """Reason why ``changes`` do not fit ``tensor``; None if they do."""
    values = changes[name] if name in changes else changes[name + VALUES]
    if name in changes and values.numel() != tensor.numel():
        return f"{name} has {values.numel()} numbers, the model needs {tensor.numel()}"
    if name not in changes:
        places = changes[name + PLACES]
        outside = len(places) > 0 and (int(places.min()) < 0 or int(places.max()) >= tensor.numel())
        if name + GAPS in changes:
            gaps, steps = changes[name + GAPS], changes[name + STEPS]
            outside = outside or len(gaps) != len(steps) or int(gaps.sum(dtype=torch.int64)) >= tensor.numel()
        if outside or len(places) != len(values):
            return f"a change of {name} is outside its {tensor.numel()} numbers"
    return None if bool(torch.isfinite(values).all()) else f"{name} contains values that are not finite"


def apply(tensor: Tensor, name: str, changes: Mapping[str, Tensor]) -> None:
    """Apply ``changes`` to ``tensor`` in place. It must be contiguous; ``fault`` checks the other preconditions."""
    flat = tensor.view(-1)
    if name in changes:
        flat.copy_(changes[name].reshape(-1))
    else:
        places, values = changes[name + PLACES], changes[name + VALUES]
        flat.index_copy_(0, places.to(flat.device).long(), values.to(flat))
        if name + GAPS in changes:
            places = changes[name + GAPS].to(flat.device).cumsum(0, dtype=torch.int64)
            # In the learner's number type, even if the tensor has a wider one here.
            bits = flat[places].to(values.dtype).view(torch.int16) + changes[name + STEPS].to(flat.device)
            flat.index_copy_(0, places, bits.view(values.dtype).to(flat))


class Changed(Mapping[str, Tensor]):
    """Whole weights with changes applied, one tensor at a time on access."""

    def __init__(self, base: Mapping[str, Tensor], chain: Iterable[Mapping[str, Tensor]]) -> None:
        """Read only the names for now; ``chain`` is in version order."""
        self._base, self._chain = base, [(one, touched(one)) for one in chain]

    def __getitem__(self, name: str) -> Tensor:
        """The tensor; a copy if it has changes."""
        tensor = self._base[name]
        found = [changes for changes, names in self._chain if name in names]
        if found:
            tensor = tensor.clone(memory_format=torch.contiguous_format)
        for changes in found:
            apply(tensor, name, changes)
        return tensor

    def __iter__(self) -> Iterator[str]:
        """Names in the order of the base."""
        return iter(self._base)

    def __len__(self) -> int:
        """Number of tensors."""
        return len(self._base)

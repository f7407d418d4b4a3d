"""Compares, bit for bit, what the kernels hold with what was published."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from worker.learner.probe.evidence import FIXED, Evidence

NAMED = 4
"""Number of tensors that a sentence names; the others are only counted."""


class Held(Protocol):
    """Values of one tensor as an engine holds them; see ``worker.engine.readback.ReadBack``."""

    @property
    def name(self) -> str: ...
    @property
    def place(self) -> str: ...
    @property
    def dtype(self) -> torch.dtype: ...
    @property
    def values(self) -> NDArray[np.float32]: ...


@dataclass(frozen=True, slots=True)
class TensorFault:
    """A tensor that an engine does not hold as published."""

    name: str
    place: str
    differing: int
    """Sampled values that differ."""
    sampled: int
    stale: int | None
    """The previous version, if the values are still from it."""
    owner: str | None
    """Another tensor that the values belong to."""

    def __str__(self) -> str:
        if self.owner is not None:
            why = f"it has the values of {self.owner}"
        elif self.stale is not None:
            why = f"it has those of version {self.stale}"
        else:
            why = f"{self.differing:,} of {self.sampled:,} values read back differ"
        return f"{self.name} ({why})"


def compare(held: Iterable[Held], evidence: Evidence) -> list[TensorFault]:
    """Faults of the tensors that were read back, in their order."""
    faults = []
    expected = evidence.sample.values
    for one in held:
        wanted = _as_held(expected[one.name], one.dtype)
        wrong = int((one.values != wanted).sum()) if one.values.shape == wanted.shape else one.values.size
        if wrong:
            owner, stale = _owner(one, evidence), _stale(one, evidence)
            faults.append(TensorFault(one.name, one.place, wrong, wanted.size, stale, owner))
    return faults


def sentence(faults: Sequence[TensorFault], compared: int) -> str:
    """Sentence that says which tensors differ and how."""
    named = ", ".join(map(str, faults[:NAMED]))
    more = f" and {len(faults) - NAMED} more" if len(faults) > NAMED else ""
    verb = "is" if len(faults) == 1 else "are"
    return f"{len(faults)} of {compared} tensors in the engine {verb} not as published: {named}{more}"


def _stale(one: Held, evidence: Evidence) -> int | None:
    if evidence.before is None or one.name not in evidence.before[1].values:
        return None
    old = _as_held(evidence.before[1].values[one.name], one.dtype)
    mine = one.values if one.values.ndim == 1 else one.values[:, :FIXED]
    return evidence.before[0] if np.array_equal(mine, old) else None


def _owner(one: Held, evidence: Evidence) -> str | None:
    """Another tensor of the same shape whose values the engine holds instead of this one's."""
    for name, values in evidence.sample.values.items():
        if name != one.name and values.shape == one.values.shape:
            wanted = _as_held(values, one.dtype)
            if np.array_equal(wanted, one.values) and np.ptp(wanted) > 0:
                return name
    return None


def _as_held(values: NDArray[np.float32], dtype: torch.dtype) -> NDArray[np.float32]:
    rounded: NDArray[np.float32] = torch.from_numpy(np.array(values)).to(dtype).float().numpy()
    return rounded

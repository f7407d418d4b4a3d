"""Groups on their way to the learner and back: one array per kind of column, never an object per trajectory and field.

Serialisers take as long for an array of eight numbers as for one of thousands, and a batch has thousands of small ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import accumulate, islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trainer_core.trajectory import PER_TOKEN, Group, Trajectory

ARRAYS = ("prompt_ids", *PER_TOKEN, "step_starts", "state_values", "routes")
"""Fields of a trajectory that hold an array, or None."""
_OTHERS = tuple(field.name for field in fields(Trajectory) if field.name not in ARRAYS)


@dataclass(frozen=True, slots=True)
class Column:
    """Arrays, or None, one for each of N places."""

    values: NDArray[Any] | list[NDArray[Any]]
    """The arrays that differ, one behind the other along the first dimension; a list where their types differ."""
    sizes: list[int]
    """Length of each of them."""
    places: list[int]
    """Which of them stands in each place, N numbers; -1 for None."""

    @classmethod
    def of(cls, arrays: Sequence[NDArray[Any] | None]) -> Column | None:
        """The column of ``arrays``; None where all are None."""
        kept: dict[int, int] = {}
        found: list[NDArray[Any]] = []
        places = []
        for array in arrays:
            if array is None:
                places.append(-1)
                continue
            # Samples of one prompt hold the same array: it travels once.
            place = kept.setdefault(id(array), len(found))
            if place == len(found):
                found.append(array)
            places.append(place)
        if not found:
            return None
        alike = len({(array.dtype, array.shape[1:]) for array in found}) == 1
        return cls(np.concatenate(found) if alike else found, [len(array) for array in found], places)

    def arrays(self) -> list[NDArray[Any] | None]:
        """What the column was made of: slices of its values."""
        if isinstance(self.values, list):
            parts = self.values
        else:
            bounds = accumulate(self.sizes, initial=0)
            parts = [self.values[start:end] for start, end in pairwise(bounds)]
        return [None if place < 0 else parts[place] for place in self.places]


@dataclass(frozen=True, slots=True)
class Freight:
    """Whole groups."""

    bare: list[Group]
    """The groups, without their trajectories."""
    counts: list[int]
    """Trajectories of each."""
    columns: dict[str, Column]
    """By field; those that all trajectories lack are left out."""
    others: list[tuple[Any, ...]]
    """What is no array, trajectory by trajectory."""

    @classmethod
    def of(cls, groups: Sequence[Group], without: Sequence[str] = ()) -> Freight:
        """Pack groups; the array fields ``without`` stay behind."""
        trajectories = [trajectory for group in groups for trajectory in group.trajectories]
        columns = {
            name: column
            for name in ARRAYS
            if name not in without and (column := Column.of([getattr(one, name) for one in trajectories])) is not None
        }
        return cls(
            [replace(group, trajectories=[]) for group in groups],
            [len(group.trajectories) for group in groups],
            columns,
            [tuple([getattr(one, name) for name in _OTHERS]) for one in trajectories],
        )

    def groups(self) -> list[Group]:
        """The groups. Their arrays share memory; from another process they come read-only."""
        columns = {name: column.arrays() for name, column in self.columns.items()}
        nothing: list[None] = [None] * len(self.others)
        rows = zip(*(columns.get(name, nothing) for name in ARRAYS), self.others, strict=True)
        made = (
            Trajectory(**dict(zip(ARRAYS, arrays, strict=True)), **dict(zip(_OTHERS, others, strict=True)))
            for *arrays, others in rows
        )
        return [
            replace(group, trajectories=list(islice(made, count)))
            for group, count in zip(self.bare, self.counts, strict=True)
        ]

"""Codec for arrays sent between actors: one array per column, never an object per trajectory and field.

Serialisers take as long for an array of eight numbers as for one of thousands, and a batch has thousands of small ones.
``trainer_core.episodes`` declares which fields of a trajectory are columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


@dataclass(frozen=True, slots=True)
class Column:
    """Column of N entries, each an array or None."""

    values: NDArray[Any] | list[NDArray[Any]]
    """The distinct arrays, concatenated along the first dimension; a list if their types or shapes differ."""
    sizes: list[int]
    """Length of each of them."""
    places: list[int]
    """Index of the array of each entry, N numbers; -1 for None."""

    @classmethod
    def of(cls, arrays: Sequence[NDArray[Any] | None]) -> Column | None:
        """The column of ``arrays``; None if all are None."""
        kept: dict[int, int] = {}
        found: list[NDArray[Any]] = []
        places = []
        for array in arrays:
            if array is None:
                places.append(-1)
                continue
            # Samples of one prompt hold the same array: it is sent once.
            place = kept.setdefault(id(array), len(found))
            if place == len(found):
                found.append(array)
            places.append(place)
        if not found:
            return None
        alike = len({(array.dtype, array.shape[1:]) for array in found}) == 1
        return cls(np.concatenate(found) if alike else found, [len(array) for array in found], places)

    @classmethod
    def joined(cls, rows: Sequence[Sequence[Any]], dtype: DTypeLike) -> Column:
        """The column of sequences of numbers, converted in one call."""
        return cls(
            np.array([value for row in rows for value in row], dtype),
            [len(row) for row in rows],
            list(range(len(rows))),
        )

    def arrays(self) -> list[NDArray[Any] | None]:
        """Arrays that the column was built from: slices of its values."""
        if isinstance(self.values, list):
            parts = self.values
        else:
            bounds = accumulate(self.sizes, initial=0)
            parts = [self.values[start:end] for start, end in pairwise(bounds)]
        return [None if place < 0 else parts[place] for place in self.places]

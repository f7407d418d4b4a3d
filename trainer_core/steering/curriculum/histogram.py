"""Histogram of the pass rates of a source's prompts, fine enough to count exactly what a band holds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

GRID = 400
"""Grid steps between pass rates 0 and 1. Hundredths, which people set, and sixteenths lie on the grid."""
BINS = 20
"""Bars that are shown. The last one includes pass rate 1."""


@dataclass(frozen=True, slots=True)
class SourceRates:
    """Prompts of one source by pass rate."""

    name: str
    prompts: int
    """All prompts of the source."""
    untried: int
    """Prompts whose pass rate is not known."""
    cells: tuple[tuple[int, int], ...]
    """(cell, prompts) of every cell that is not empty, ascending. Cell 2k holds exactly the pass rate k/400, cell 2k +
    1 everything between it and (k + 1)/400."""


def source_rates(name: str, prompts: int, rates: Iterable[float]) -> SourceRates:
    """Histogram of the known pass rates of a source with ``prompts`` prompts."""
    known = np.fromiter(rates, dtype=np.float64)
    places = np.rint(known * GRID).astype(np.int64)
    # The quotient is the same float as a literal 0.07; a product would not always be.
    exact = places / GRID
    cells, counts = np.unique(2 * places + (known > exact) - (known < exact), return_counts=True)
    pairs = tuple(zip(cells.tolist(), counts.tolist(), strict=True))
    return SourceRates(name, prompts, prompts - len(known), pairs)


def edges(cell: int) -> tuple[float, float]:
    """Lowest and highest pass rate of a cell; they are equal if it holds a single rate."""
    return (cell // 2) / GRID, ((cell + 1) // 2) / GRID


def bar(cell: int) -> int:
    """The bar that shows a cell."""
    return min((cell // 2) * BINS // GRID, BINS - 1)


def bars(cells: Sequence[tuple[int, int]]) -> list[int]:
    """Prompts per bar, shape [``BINS``]."""
    counts = [0] * BINS
    for cell, count in cells:
        counts[bar(cell)] += count
    return counts

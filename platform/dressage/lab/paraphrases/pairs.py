"""All pairs of rows with similar embeddings, found by block products without an index."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dressage.lab.duplicates.clusters import UnionFind
from dressage.lab.plan import UnfitError
from dressage.lab.synthesis.numbers import other_numbers
from dressage.lab.tokens import Places

_ROWS, _COLUMNS = 512, 8192
MOST_PAIRS = 2_000_000
"""Maximum number of pairs above the threshold. More of them show that the model does not distinguish rows."""
_DRAWN = 20_000
_RARE = 0.999


def join_alike(
    vectors: NDArray[Any],
    texts: Sequence[str],
    first: Places,
    threshold: float,
    *,
    same_numbers: bool,
    told: Callable[[int, int], None],
) -> tuple[Places, dict[int, float]]:
    """Merge rows with similar embeddings.

    Args:
        vectors: unit vectors of shape [rows, size]; zero rows match none.
        texts: the texts of the rows.
        first: for each row the first row with the same text. These are merged without comparing vectors.
        threshold: minimum cosine similarity.
        same_numbers: whether the texts must have the same numbers.
        told: called with the number of rows compared, and the number of all.

    Returns:
        The first row of the cluster of each row, of shape [rows]; and the minimum similarity of a pair, by the row that
        was merged by it.

    Raises:
        UnfitError: too many pairs are similar.
    """
    rows = len(vectors)
    sets = UnionFind(rows)
    similarity: dict[int, float] = {}
    for row in np.flatnonzero(first != np.arange(rows)).tolist():
        sets.join(row, int(first[row]))
    pairs = 0
    for start in range(0, rows, _ROWS):
        told(start, rows)
        block = vectors[start : start + _ROWS].astype(np.float32)
        for left in range(start, rows, _COLUMNS):
            products = block @ vectors[left : left + _COLUMNS].astype(np.float32).T
            ones, others = np.nonzero(products >= threshold - 1e-3)
            later = others + left > ones + start
            pairs += int(later.sum())
            if pairs > MOST_PAIRS:
                told_of = f"More than {MOST_PAIRS:,} pairs of rows have a similarity of {threshold:g}"
                raise UnfitError(
                    f"{told_of}: this model hardly separates rows. Choose a higher threshold, or another model."
                )
            for one, other in zip((ones[later] + start).tolist(), (others[later] + left).tolist(), strict=True):
                if sets.find(one) == sets.find(other):
                    continue
                if same_numbers and other_numbers(texts[one], texts[other]):
                    continue
                sets.join(one, other)
                alike = min(1.0, float(products[one - start, other - left]))
                similarity[other] = min(alike, similarity.get(other, 1.0))
    told(rows, rows)
    return sets.roots(), similarity


def background(vectors: NDArray[Any], first: Places) -> float:
    """Cosine similarity that one in a thousand random pairs of rows with different texts exceeds; 0 without pairs."""
    there = np.flatnonzero(np.any(vectors != 0, axis=1) & (first == np.arange(len(vectors))))
    if len(there) < 2:
        return 0.0
    draw = np.random.default_rng(0)
    ones, others = there[draw.integers(0, len(there), _DRAWN)], there[draw.integers(0, len(there), _DRAWN)]
    apart = ones != others
    products = np.einsum("nd,nd->n", *(vectors[drawn[apart]].astype(np.float32) for drawn in (ones, others)))
    return float(np.quantile(products, _RARE)) if len(products) else 0.0

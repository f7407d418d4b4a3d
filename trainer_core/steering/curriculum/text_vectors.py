"""Text vectors from hashed n-grams: similar if texts share pieces of words. They need no model."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

WIDTH = 256
SIZES = (3, 4, 5)
"""Lengths of the counted pieces, in bytes."""
LONGEST = 4096
"""Number of leading bytes of a text that are used."""
KEPT = 65_536
"""Number of most recently used vectors that are cached: 64 MiB."""
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def vector(text: str) -> NDArray[np.float32]:
    """Signed feature hashing (Weinberger et al., 2009) of the logarithm of each piece's count; length 1, shape [256].

    A text shorter than the shortest piece is the zero vector.
    """
    letters = np.frombuffer(f" {text.casefold()} ".encode("utf-8", "replace")[:LONGEST], np.uint8).astype(np.uint64)
    codes = np.concatenate([_pieces(letters, size) for size in SIZES])
    codes, counts = np.unique(codes, return_counts=True)
    mixed = (codes * _MULTIPLIER) >> np.uint64(40)
    signs = np.where(mixed & np.uint64(1), 1.0, -1.0)
    places = ((mixed >> np.uint64(1)) % np.uint64(WIDTH)).astype(np.int64)
    found = np.bincount(places, weights=signs * np.log1p(counts), minlength=WIDTH)
    length = float(np.linalg.norm(found))
    return (found / length if length else found).astype(np.float32)


class TextVectors:
    """Vectors of a source's prompts, each computed on first use."""

    def __init__(self, text: Callable[[int], str]) -> None:
        """``text`` returns the text of a row."""
        self._made = lru_cache(KEPT)(lambda row: vector(text(row)))

    def of(self, rows: list[int]) -> NDArray[np.float32]:
        """Vectors of rows, shape [rows, 256]."""
        return np.array([self._made(row) for row in rows], np.float32).reshape(len(rows), WIDTH)


def _pieces(letters: NDArray[np.uint64], size: int) -> NDArray[np.uint64]:
    """A code of every piece of ``size`` bytes; pieces of different sizes get different codes."""
    count = max(len(letters) - size + 1, 0)
    codes = np.full(count, size, np.uint64)
    for place in range(size):
        codes = codes * np.uint64(1_000_003) + letters[place : place + count]
    return codes

"""Bands of MinHash signatures: similar rows very likely agree in a whole band (locality-sensitive hashing).

Leskovec, Rajaraman, Ullman, "Mining of Massive Datasets", section 3.4. Signatures are computed by rensa.
"""

from typing import Any

import numpy as np
from rensa import RMinHash

from dressage.lab.tokens import Hashes, Places, mixed

PERMUTATIONS = 128
SEED = 20260
_RECALL = 0.995
_AT_ONCE = 4_000
"""Number of rows whose signatures are processed in Python at a time."""


def shape_for(threshold: float) -> tuple[int, int]:
    """(bands, rows per band): the longest bands that a pair at the threshold shares with probability 0.995."""
    fitting = [1]
    for length in range(2, 17):
        if 1 - (1 - threshold**length) ** (PERMUTATIONS // length) >= _RECALL:
            fitting.append(length)
    return PERMUTATIONS // fitting[-1], fitting[-1]


def band_keys(shingles: Hashes, offsets: Places, threshold: float) -> Hashes:
    """A hash of each band of each row.

    Args:
        shingles: hashes, concatenated over the rows.
        offsets: first shingle of each row, followed by the end of the last.
        threshold: Jaccard similarity at or above which rows should be found.

    Returns:
        uint64 of shape [rows, bands].
    """
    bands, length = shape_for(threshold)
    made = [np.zeros((0, bands), np.uint64)]
    for start in range(0, len(offsets) - 1, _AT_ONCE):
        here = offsets[start : start + _AT_ONCE + 1]
        matrix = RMinHash.digest_matrix_from_flat_token_hashes(
            np.ascontiguousarray(shingles[here[0] : here[-1]]), (here - here[0]).astype(np.uint64), PERMUTATIONS, SEED
        )
        made.append(_keys(np.array(matrix.to_rows(), np.uint64), bands, length))
    return np.concatenate(made)


def _keys(signatures: np.ndarray[Any, Any], bands: int, length: int) -> Hashes:
    parts = signatures[:, : bands * length].reshape(-1, bands, length)
    keys = np.zeros(parts.shape[:2], np.uint64)
    for place in range(length):
        keys = mixed(keys + parts[:, :, place] + np.uint64(0x9E3779B97F4A7C15))
    return keys

"""Row ids: each identifies one row of a version, and stays the same in versions derived from it.

If a column contains ids, these are used. Otherwise an id is 16 hexadecimal digits of the SHA-256 of the row's canonical
JSON, so that the same row has the same id in every file. Memory: 8 bytes per row.
"""

import hashlib
import re
import sys
from array import array
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from dressage.datasets.rows.text import sorted_text_of

OWN_COLUMNS = ("id", "task_id", "problem_id", "question_id", "unique_id", "uid")
"""Columns whose values are used as ids if every row has one and all differ. Earlier columns take precedence."""
MAX_LENGTH = 80
_BYTES = 8
"""Number of hash bytes in an id."""
_FIT = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._:/+-]{{0,{MAX_LENGTH - 1}}}", re.ASCII)


def content_id(data: Any) -> str:
    """The id derived from the row's content alone: 16 hexadecimal digits."""
    return id_of_text(sorted_text_of(data))


def id_of_text(text: str) -> str:
    """The id derived from a row's JSON with sorted keys."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def ids_of_texts(texts: list[bytes]) -> tuple[pa.Array, array]:
    """The ids derived from rows' JSON with sorted keys, strings of shape [rows], and the same ids as numbers."""
    digests = b"".join([hashlib.sha256(text).digest()[:_BYTES] for text in texts])
    numbers = array("Q", digests)
    if sys.byteorder == "little":
        numbers.byteswap()
    offsets = np.arange(0, 2 * len(digests) + 1, 2 * _BYTES, dtype=np.int32)
    ids = pa.StringArray.from_buffers(len(texts), pa.py_buffer(offsets), pa.py_buffer(digests.hex().encode()))
    return ids, numbers


def own_column(data: dict[str, Any]) -> str | None:
    """The column of a first row that may contain the ids of all rows."""
    return next((name for name in OWN_COLUMNS if own_id(data, name) is not None), None)


def own_id(data: dict[str, Any], column: str) -> str | None:
    """The row's value in ``column`` if it can be an id: an integer, or a short word without spaces."""
    value = data.get(column)
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    text = str(value)
    return text if _FIT.fullmatch(text) else None


def fits(row_id: str) -> bool:
    """Whether a text has the format of an id."""
    return _FIT.fullmatch(row_id) is not None


def _hash(row_id: str) -> int:
    return int.from_bytes(hashlib.blake2b(row_id.encode(), digest_size=8).digest(), "big")


class Occurrences:
    """Ids in row order. Finds duplicates without storing the texts."""

    def __init__(self) -> None:
        self._hashes = array("Q")
        self._sorted: np.ndarray | None = None

    def add(self, ids: Iterable[str]) -> None:
        """Add the ids of the next rows."""
        self._hashes.extend(map(_hash, ids))
        self._sorted = None

    def add_numbers(self, numbers: Iterable[int]) -> None:
        """Add the next rows by 64-bit numbers that represent their ids. Use this for all rows or for none."""
        self._hashes.extend(numbers)
        self._sorted = None

    def has(self, row_id: str) -> bool:
        """Whether a row has this id."""
        if self._sorted is None:
            self._sorted = np.sort(np.frombuffer(self._hashes, dtype=np.uint64))
        wanted = np.uint64(_hash(row_id))
        place = int(np.searchsorted(self._sorted, wanted))
        return place < len(self._sorted) and self._sorted[place] == wanted

    def ranks(self) -> np.ndarray | None:
        """Number of earlier rows with the same id for each row, int32 of shape [rows]; None if all ids differ."""
        hashes = np.frombuffer(self._hashes, dtype=np.uint64)
        order = np.argsort(hashes, kind="stable")
        equal = hashes[order][1:] == hashes[order][:-1]
        if not equal.any():
            return None
        places = np.arange(len(hashes), dtype=np.int32)
        starts = np.concatenate(([True], ~equal))
        first = np.maximum.accumulate(np.where(starts, places, 0))
        ranks = np.empty(len(hashes), dtype=np.int32)
        ranks[order] = places - first
        return ranks


def numbered(ids: list[str], ranks: np.ndarray) -> list[str]:
    """Ids in which the second occurrence gets the suffix ``-2``, the third ``-3``."""
    return [f"{row_id}-{rank + 1}" if rank else row_id for row_id, rank in zip(ids, ranks.tolist(), strict=True)]

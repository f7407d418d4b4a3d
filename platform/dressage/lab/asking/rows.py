"""Rows to ask a model about: all rows of a version, or a reproducible random sample."""

import hashlib
import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dressage.datasets.versions import storage
from dressage.lab.plan import StoredRows
from dressage.lab.texts import text_of


@dataclass(frozen=True, slots=True)
class AskedRow:
    """A row, with its number from 0."""

    number: int
    id: str
    prompt: str
    answer: str | None
    data: str
    """The whole row as JSON."""

    def text(self, column: str) -> str:
        """The text of a column, empty if the row lacks it. For a prompt, the user and assistant messages."""
        return text_of(self.prompt, self.answer, self.data, (column,))


def rank(row_id: str, seed: Any) -> int:
    """A row's position in a random order that depends only on the id and the seed."""
    return int.from_bytes(hashlib.sha256(f"{seed}\0{row_id}".encode()).digest()[:8], "big")


def number_of_asked(stored: StoredRows, sample: int | None, chosen: frozenset[int] | None = None) -> int:
    """Number of rows that ``asked_rows`` yields."""
    if chosen is not None:
        return len(chosen)
    return stored.rows if sample is None else min(sample, stored.rows)


def asked_rows(
    stored: StoredRows, sample: int | None, seed: int, chosen: frozenset[int] | None = None
) -> Iterator[AskedRow]:
    """The rows, in order: those with the numbers ``chosen``, all, or the ``sample`` rows that are first by ``rank``."""
    wanted = chosen
    if wanted is None and sample is not None and sample < stored.rows:
        wanted = _drawn(stored, sample, seed)
    start = 0
    for table in storage.tables(stored.path):
        numbers = range(start, start + table.num_rows)
        start += table.num_rows
        here = [number for number in numbers if wanted is None or number in wanted]
        if here:
            part = table.take([number - numbers.start for number in here])
            columns = [part.column(name).to_pylist() for name in ("id", "prompt", "answer", "row")]
            for number, row_id, prompt, answer, data in zip(here, *columns, strict=True):
                yield AskedRow(number, row_id, prompt, answer, data)


def _drawn(stored: StoredRows, sample: int, seed: int) -> frozenset[int]:
    ids = (row_id for column in storage.ids(stored.path) for row_id in column.to_pylist())
    ranked = ((rank(row_id, seed), number) for number, row_id in enumerate(ids))
    return frozenset(number for _, number in heapq.nsmallest(sample, ranked))

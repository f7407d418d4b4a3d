"""Row groups of stored files: bounded by rows and by bytes, and the same however the rows arrive."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dressage.datasets.limits import ROWS_PER_GROUP
from dressage.datasets.rows.row import check_row
from dressage.datasets.versions import storage


def tables(sizes: list[int], at_once: int) -> Iterator[pa.Table]:
    for start in range(0, len(sizes), at_once):
        texts = ["x" * size for size in sizes[start : start + at_once]]
        ids = [str(start + number) for number in range(len(texts))]
        yield pa.table({"row": texts, "prompt": texts, "answer": [None] * len(texts), "id": ids}, schema=storage.SCHEMA)


def lengths(sizes: list[int], at_once: int) -> list[int]:
    return [table.num_rows for table in storage.regrouped(tables(sizes, at_once))]


@pytest.mark.parametrize("at_once", [1, 3, 7, 100])
def test_a_group_ends_with_the_row_that_fills_it(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(storage, "GROUP_BYTES", 100)
    # Texts count for the row and for its prompt.
    assert lengths([25, 25, 25, 25, 1, 1, 60, 10], at_once) == [2, 2, 3, 1]
    assert lengths([500, 500], at_once) == [1, 1]
    monkeypatch.setattr(storage, "ROWS_PER_GROUP", 3)
    assert lengths([1] * 8, at_once) == [3, 3, 2]
    assert lengths([60, 1, 1, 1, 60], at_once) == [1, 3, 1]


def test_notes_have_the_same_number_of_rows_in_each_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """A note is found by the number of its row, so its size must not count."""
    monkeypatch.setattr(storage, "GROUP_BYTES", 100)
    monkeypatch.setattr(storage, "ROWS_PER_GROUP", 3)
    notes = pa.table({"value": [None, *("x" * 500 for _ in range(6))]})
    assert [table.num_rows for table in storage.regrouped([notes], texts=())] == [3, 3, 1]


def test_large_rows_are_stored_in_small_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "GROUP_BYTES", 40_000)
    monkeypatch.setattr(storage, "_WAITING_BYTES", 10_000)
    seen: list[int] = []
    made = storage._table

    def counted(rows: list[storage.Row], ids: storage._Ids) -> pa.Table:
        seen.append(len(rows))
        return made(rows, ids)

    monkeypatch.setattr(storage, "_table", counted)
    rows = [check_row({"prompt": f"{number}" + "x" * 4_000}) for number in range(20)]
    with pq.ParquetFile(storage.write(iter(rows), tmp_path)) as file:
        groups = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
    assert max(seen) == 3, "no more wait than the bound"
    assert groups == [5, 5, 5, 5], "a row counts with its prompt"
    assert max(groups) < ROWS_PER_GROUP

"""Differences between two versions: rows added, removed and changed, matched by id.

A diff is computed once, stored next to the files, and then read page by page. Memory: 24 bytes per row of the larger
version, and the ids of ``_IDS_AT_ONCE`` rows.
"""

import hashlib
import os
import tempfile
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from typing_extensions import TypedDict

from dressage.datasets.versions import storage

Kind = Literal["added", "removed", "changed"]
KINDS: tuple[Kind, ...] = ("added", "removed", "changed")
_IDS_AT_ONCE = 500_000
_PAIRS = pa.schema([("kind", pa.int8()), ("before", pa.int32()), ("after", pa.int32())])
_NOWHERE = -1
_NONE = object()


class DiffCounts(TypedDict):
    """Number of rows of each kind."""

    added: int
    removed: int
    changed: int
    equal: int


class FieldChange(TypedDict):
    """One column of a changed row."""

    name: str
    before: Any
    """Null if ``change`` is ``added``."""
    after: Any
    """Null if ``change`` is ``removed``."""
    change: Kind


class RowDiff(TypedDict):
    """One row that differs."""

    change: Kind
    id: str
    before_index: int | None
    after_index: int | None
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    fields: list[FieldChange]
    """Columns of a changed row that differ; empty if only their order differs."""


def make_diff(before: Path, after: Path) -> Path:
    """The file of differing pairs, created if it does not exist. Raises FileNotFoundError if rows are gone."""
    target = before.parent / "diffs" / f"{before.stem}-{after.stem}.parquet"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(suffix=".tmp", dir=target.parent)
        os.close(descriptor)
        try:
            table, equal = _compare(before, after)
            metadata = {"equal": str(equal)}
            pq.write_table(table.replace_schema_metadata(metadata), name, row_group_size=20_000)
            Path(name).replace(target)
            if not (before.is_file() and after.is_file()):
                # A deletion removes the file first and then its diffs, so one of the two sees the other.
                target.unlink(missing_ok=True)
                raise FileNotFoundError(before)
        finally:
            Path(name).unlink(missing_ok=True)
    return target


def counts_of(diff: Path) -> DiffCounts:
    """Number of rows of each kind in a diff."""
    with pq.ParquetFile(diff) as file:
        kinds = np.bincount(file.read(columns=["kind"]).column("kind").to_numpy(), minlength=len(KINDS))
        equal = int((file.schema_arrow.metadata or {}).get(b"equal", b"0"))
    added, removed, changed = map(int, kinds)
    return {"added": added, "removed": removed, "changed": changed, "equal": equal}


def read_diff(diff: Path, before: Path, after: Path, start: int, limit: int) -> list[RowDiff]:
    """Differences from ``start`` on, at most ``limit``: added rows first, then removed, then changed ones."""
    pairs = _pairs(diff, start, limit)
    old = _rows(before, [pair["before"] for pair in pairs])
    new = _rows(after, [pair["after"] for pair in pairs])
    return [_document(KINDS[pair["kind"]], old.get(pair["before"]), new.get(pair["after"])) for pair in pairs]


def field_changes(before: dict[str, Any], after: dict[str, Any]) -> list[FieldChange]:
    """The columns in which two rows differ. ``1`` and ``true`` are different, and so are ``1`` and ``1.0``."""
    found: list[FieldChange] = []
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name, _NONE), after.get(name, _NONE)
        if old is _NONE:
            found.append({"name": name, "before": None, "after": new, "change": "added"})
        elif new is _NONE:
            found.append({"name": name, "before": old, "after": None, "change": "removed"})
        elif repr(old) != repr(new):
            found.append({"name": name, "before": old, "after": new, "change": "changed"})
    return found


def _compare(before: Path, after: Path) -> tuple[pa.Table, int]:
    old_texts, new_texts = _text_hashes(before), _text_hashes(after)
    # For each new row the number of the old row with the same id.
    partner = np.full(len(new_texts), _NOWHERE, dtype=np.int32)
    start = 0
    for ids in _ids_in_chunks(before):
        at = 0
        for table in storage.tables(after):
            found = pc.index_in(table.column("id"), value_set=ids).fill_null(_NOWHERE).to_numpy()
            here = partner[at : at + len(found)]
            here[found >= 0] = found[found >= 0] + start
            at += len(found)
        start += len(ids)
    matched = partner >= 0
    gone = np.ones(len(old_texts), dtype=bool)
    gone[partner[matched]] = False
    changed = np.flatnonzero(matched)
    changed = changed[old_texts[partner[changed]] != new_texts[changed]]
    added, removed = np.flatnonzero(~matched), np.flatnonzero(gone)
    nowhere = [np.full(len(rows), _NOWHERE, dtype=np.int32) for rows in (added, removed)]
    table = pa.table(
        {
            "kind": np.repeat(np.arange(3, dtype=np.int8), [len(added), len(removed), len(changed)]),
            "before": np.concatenate([nowhere[0], removed, partner[changed]]).astype(np.int32),
            "after": np.concatenate([added, nowhere[1], changed]).astype(np.int32),
        },
        schema=_PAIRS,
    )
    return table, int(matched.sum()) - len(changed)


def _text_hashes(path: Path) -> np.ndarray:
    """64-bit hash of each row's JSON text; uint64 of shape [rows]."""
    hashes = array("Q")
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(2_000, columns=["row"]):
            hashes.extend(
                int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
                for text in batch.column("row").to_pylist()
            )
    return np.frombuffer(hashes, dtype=np.uint64)


def _ids_in_chunks(path: Path) -> Iterator[pa.Array]:
    waiting: list[pa.ChunkedArray] = []
    count = 0
    for table in storage.tables(path):
        waiting.append(table.column("id"))
        count += table.num_rows
        if count >= _IDS_AT_ONCE:
            yield _joined(waiting)
            waiting, count = [], 0
    if waiting:
        yield _joined(waiting)


def _joined(columns: list[pa.ChunkedArray]) -> pa.Array:
    return pa.concat_arrays([chunk for column in columns for chunk in column.chunks])


def _pairs(diff: Path, start: int, limit: int) -> list[dict[str, int]]:
    found: list[dict[str, int]] = []
    with pq.ParquetFile(diff) as file:
        first = 0
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group).num_rows
            if first + size > start and first < start + limit:
                begin = max(start - first, 0)
                found += file.read_row_group(group).slice(begin, start + limit - first - begin).to_pylist()
            first += size
    return found


def _rows(path: Path, numbers: list[int]) -> dict[int, tuple[int, str, dict[str, Any]]]:
    wanted = [number for number in numbers if number >= 0]
    return {number: (number, row_id, row) for number, row_id, row in storage.read_identified(path, wanted)}


def _document(
    kind: Kind, old: tuple[int, str, dict[str, Any]] | None, new: tuple[int, str, dict[str, Any]] | None
) -> RowDiff:
    either = new or old
    assert either is not None  # a pair has at least one row
    return {
        "change": kind,
        "id": either[1],
        "before_index": old[0] if old else None,
        "after_index": new[0] if new else None,
        "before": old[2] if old else None,
        "after": new[2] if new else None,
        "fields": field_changes(old[2], new[2]) if old and new else [],
    }

"""Dataset versions on disk: one immutable Parquet file each, named by its hash."""

import hashlib
import json
import os
import tempfile
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from django.conf import settings

from dressage.datasets.files.columnar.stored import TakenRows
from dressage.datasets.limits import GROUP_BYTES, ROWS_PER_GROUP
from dressage.datasets.rows import ids as row_ids
from dressage.datasets.rows.row import Row
from dressage.datasets.rows.text import both_texts_of, text_of
from dressage.embedded.private_files import sync_folder

SCHEMA = pa.schema(
    [
        pa.field("row", pa.string(), nullable=False),  # the whole row as JSON text
        pa.field("prompt", pa.string(), nullable=False),
        pa.field("answer", pa.string()),
        pa.field("id", pa.string(), nullable=False),  # missing in files from earlier releases
    ]
)


_TEXTS = ("row", "prompt", "answer")
"""Columns that may be large."""
_AHEAD = 2
"""Number of row groups queued for writing."""
_WAITING_BYTES = 8 << 20
"""Size of the texts at which waiting rows become a table. As objects and as JSON they take several times that."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A complete file on disk."""

    path: Path
    bytes: int
    sha256: str


def write(parts: Iterable[Row | TakenRows], folder: Path | None = None) -> Path:
    """Stream rows with ids into a temporary Parquet file. The caller moves it into place with ``keep`` or removes it.

    ``folder`` is where the temporary file is created; None means the folder of all datasets.
    """
    ids = _Ids()
    path = write_tables(_batches(parts, ids), folder)
    try:
        return ids.settle(path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def write_tables(tables: Iterable[pa.Table], folder: Path | None = None) -> Path:
    """Stream tables of ``SCHEMA`` into a temporary Parquet file, regrouped. Like ``write``, for rows that have ids."""
    folder = folder or settings.DATASET_ROOT
    folder.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix="upload-", suffix=".tmp", dir=folder)
    os.close(descriptor)
    path = Path(name)
    try:
        with pq.ParquetWriter(path, SCHEMA, compression="zstd") as writer, ThreadPoolExecutor(1) as thread:
            # The next rows are prepared while these are compressed, which Arrow does without Python's lock.
            under_way: deque[Future[None]] = deque()
            for table in regrouped(tables):
                under_way.append(thread.submit(writer.write_table, table))
                if len(under_way) > _AHEAD:
                    under_way.popleft().result()
            for one in under_way:
                one.result()
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def sha256_of(path: Path) -> str:
    """The content hash. Equal rows in the same order give equal files."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def keep(temporary: Path, folder: str) -> StoredFile:
    """Rename a written file to ``<folder>/<sha256>.parquet``, after flushing it to disk."""
    digest = sha256_of(temporary)
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
        size = os.fstat(file.fileno()).st_size
    target = settings.DATASET_ROOT / folder / f"{digest}.parquet"
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary.chmod(0o600)
    os.replace(temporary, target)
    for directory in (target.parent, settings.DATASET_ROOT):
        sync_folder(directory)
    return StoredFile(target, size, digest)


def same_rows(one: Path, other: Path) -> bool:
    """Whether two files contain equal rows in the same order, with or without ids."""
    with pq.ParquetFile(one) as left, pq.ParquetFile(other) as right:
        if left.metadata.num_rows != right.metadata.num_rows:
            return False
        pairs = zip(_texts(left), _texts(right), strict=True)
        return all(mine == theirs for mine, theirs in pairs)


def read_rows(path: Path, after: int, limit: int) -> Iterator[dict[str, Any]]:
    """Rows from ``after`` on, at most ``limit``: ``{index, id, prompt, answer, row}``. Reads few row groups.

    Rows of files without ids get ids derived from their content, which equal rows share.
    """
    with pq.ParquetFile(path) as file:
        start = 0
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group).num_rows
            if start + size > after and start < after + limit:
                table = file.read_row_group(group)
                first = max(after - start, 0)
                for offset, record in enumerate(table.slice(first, after + limit - start - first).to_pylist()):
                    row = json.loads(record["row"])
                    yield {
                        "index": start + first + offset,
                        "id": row_ids.content_id(row),
                        **record,
                        "row": row,
                    }
            start += size


def read_rows_at(path: Path, numbers: Collection[int]) -> dict[int, Any]:
    """The JSON of rows by number. Numbers beyond the end are skipped. Reads each row group at most once."""
    return {number: json.loads(text) for number, text in read_column_at(path, "row", numbers).items()}


def read_column_at(path: Path, column: str, numbers: Collection[int]) -> dict[int, Any]:
    """Values of one column by row number. Numbers beyond the end are skipped."""
    found: dict[int, Any] = {}
    wanted, start = sorted(set(numbers)), 0
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group).num_rows
            here = [number for number in wanted if start <= number < start + size]
            if here:
                values = file.read_row_group(group, columns=[column]).column(column)
                found |= {number: values[number - start].as_py() for number in here}
            start += size
    return found


def read_identified(path: Path, numbers: Collection[int]) -> list[tuple[int, str, dict[str, Any]]]:
    """(number, id, row) of rows by number, in order."""
    rows = read_rows_at(path, numbers)
    with pq.ParquetFile(path) as file:
        has_ids = "id" in file.schema_arrow.names
    ids = read_column_at(path, "id", numbers) if has_ids else {}
    return [(number, ids.get(number) or row_ids.content_id(row), row) for number, row in sorted(rows.items())]


def tables(path: Path) -> Iterator[pa.Table]:
    """All rows in order as tables of ``SCHEMA``, one row group at a time, each row with a unique id."""
    with pq.ParquetFile(path) as file:
        if "id" in file.schema_arrow.names:
            for group in range(file.num_row_groups):
                yield file.read_row_group(group).select(SCHEMA.names)
            return
        yield from _with_ids(file)


def ids(path: Path) -> Iterator[pa.ChunkedArray]:
    """Ids of all rows in order, as in ``tables``, one row group at a time."""
    with pq.ParquetFile(path) as file:
        if "id" in file.schema_arrow.names:
            for group in range(file.num_row_groups):
                yield file.read_row_group(group, columns=["id"]).column("id")
            return
        for table in _with_ids(file):
            yield table.column("id")


def number_of(path: Path, wanted: str) -> int | None:
    """Number, from 0, of the row with an id; None if there is none."""
    start = 0
    for column in ids(path):
        found = pc.index(column, wanted).as_py()
        if found >= 0:
            return start + found
        start += len(column)
    return None


def _with_ids(file: pq.ParquetFile) -> Iterator[pa.Table]:
    """The tables of a file without ids, or with ids that must be replaced."""
    known = row_ids.Occurrences()
    for group in range(file.num_row_groups):
        known.add(_content_ids(file.read_row_group(group, columns=["row"])))
    ranks, start = known.ranks(), 0
    for group in range(file.num_row_groups):
        table = file.read_row_group(group)
        ids = _content_ids(table)
        if ranks is not None:
            ids = row_ids.numbered(ids, ranks[start : start + len(ids)])
        start += len(ids)
        yield _identified(table, ids)


def _content_ids(table: pa.Table) -> list[str]:
    return [row_ids.content_id(json.loads(text)) for text in table.column("row").to_pylist()]


def _identified(table: pa.Table, ids: list[str]) -> pa.Table:
    columns = [table.column(name) for name in SCHEMA.names[:-1]]
    return pa.Table.from_arrays([*columns, pa.array(ids, pa.string())], schema=SCHEMA)


class _Ids:
    """Ids of rows being written: the rows' own if usable, otherwise derived from their content."""

    def __init__(self) -> None:
        self._known = row_ids.Occurrences()
        self._begun = False
        self._column: str | None = None
        self._failed = False
        """Whether the rows' own column has become unusable, because a row lacks it."""

    def of(self, rows: list[Row]) -> tuple[list[str], Any]:
        """The JSON texts of the next rows and their ids. ``settle`` may change the ids."""
        self._begin(rows[0].data)
        if self._column is None:
            both = [both_texts_of(row.data) for row in rows]
            return [text for text, _ in both], self._of_content([text.encode() for _, text in both])
        ids = self._own([row.data for row in rows], self._column)
        self._known.add(ids)
        return [text_of(row.data) for row in rows], ids

    def of_all(self, rows: TakenRows) -> Any:
        """The ids of the next rows, which were taken as a block."""
        if self._column is None and self._begun:
            return self._of_content(rows.sorted_texts())
        names = [name for name in row_ids.OWN_COLUMNS if rows.values(name) is not None]
        values = [rows.values(name) or [] for name in names]
        data = [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)] or [{}] * len(rows)
        self._begin(data[0])
        if self._column is None:
            return self._of_content(rows.sorted_texts())
        ids = self._own(data, self._column)
        self._known.add(ids)
        return ids

    def _begin(self, first: dict[str, Any]) -> None:
        if not self._begun:
            self._begun, self._column = True, row_ids.own_column(first)

    def _of_content(self, texts: list[bytes]) -> Any:
        ids, numbers = row_ids.ids_of_texts(texts)
        self._known.add_numbers(numbers)
        return ids

    def _own(self, rows: list[dict[str, Any]], column: str) -> list[str]:
        found = ["" if self._failed else row_ids.own_id(row, column) or "" for row in rows]
        self._failed = self._failed or not all(found)
        return found

    def settle(self, path: Path) -> Path:
        """The same file if all ids differ, otherwise a new one that replaces it."""
        ranks = self._known.ranks()
        if ranks is None and not self._failed:
            return path
        with pq.ParquetFile(path) as file:
            if self._column is None and ranks is not None:
                settled = write_tables(_suffixed(file, ranks), path.parent)
            else:
                settled = write_tables(_with_ids(file), path.parent)
        path.unlink()
        return settled


def _suffixed(file: pq.ParquetFile, ranks: Any) -> Iterator[pa.Table]:
    start = 0
    for group in range(file.num_row_groups):
        table = file.read_row_group(group)
        ids = row_ids.numbered(table.column("id").to_pylist(), ranks[start : start + table.num_rows])
        start += table.num_rows
        yield _identified(table, ids)


def _texts(file: pq.ParquetFile) -> Iterator[str]:
    for group in range(file.num_row_groups):
        yield from file.read_row_group(group, columns=["row"]).column("row").to_pylist()


def _batches(parts: Iterable[Row | TakenRows], ids: _Ids) -> Iterator[pa.Table]:
    """Tables of ``SCHEMA`` from single rows and from blocks of rows, each of bounded size."""
    waiting: list[Row] = []
    size = 0
    for part in parts:
        if isinstance(part, Row):
            waiting.append(part)
            size += _size(part.data)
            if len(waiting) < ROWS_PER_GROUP and size < _WAITING_BYTES:
                continue
        if waiting:
            yield _table(waiting, ids)
            waiting, size = [], 0
        if not isinstance(part, Row):
            columns = [part.texts, part.prompts, part.answers, ids.of_all(part)]
            yield pa.table(columns, schema=SCHEMA)
    if waiting:
        yield _table(waiting, ids)


def _size(value: Any) -> int:
    """Number of characters of the texts in a value."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    return sum(map(_size, value)) if isinstance(value, list) else 0


def _table(rows: list[Row], ids: _Ids) -> pa.Table:
    texts, names = ids.of(rows)
    prompts, answers = [row.prompt for row in rows], [row.answer for row in rows]
    return pa.table({"row": texts, "prompt": prompts, "answer": answers, "id": names}, schema=SCHEMA)


def regrouped(tables: Iterable[pa.Table], texts: Sequence[str] = _TEXTS) -> Iterator[pa.Table]:
    """The same rows in tables of ``ROWS_PER_GROUP`` rows, fewer once their texts reach ``GROUP_BYTES``.

    Where a table ends depends on the rows alone, not on how they arrive.

    Args:
        tables: the rows.
        texts: columns whose bytes count. Without any, every table but the last has ``ROWS_PER_GROUP`` rows.
    """
    waiting: list[pa.Table] = []
    count = size = 0
    for table in tables:
        sizes = np.cumsum(_text_bytes(table, texts))
        start, before = 0, 0
        while start < table.num_rows:
            # The row that reaches the limit is the last of its table.
            room = int(np.searchsorted(sizes, before + GROUP_BYTES - size)) + 1 - start
            end = start + min(room, ROWS_PER_GROUP - count, table.num_rows - start)
            waiting.append(table.slice(start, end - start))
            count, size = count + end - start, size + int(sizes[end - 1]) - before
            start, before = end, int(sizes[end - 1])
            if count == ROWS_PER_GROUP or size >= GROUP_BYTES:
                yield pa.concat_tables(waiting)
                waiting, count, size = [], 0, 0
    if count:
        yield pa.concat_tables(waiting)


def _text_bytes(table: pa.Table, texts: Sequence[str]) -> np.ndarray:
    """Bytes of the columns ``texts`` of each row, int64 of shape [rows]."""
    sizes = np.zeros(table.num_rows, np.int64)
    for name in texts:
        lengths = pc.fill_null(pc.binary_length(table.column(name)), 0)
        sizes += lengths.to_numpy().astype(np.int64)
    return sizes

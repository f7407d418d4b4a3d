"""Dataset versions on disk: one Parquet file each, named by its hash, never changed."""

import hashlib
import json
import os
import tempfile
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from django.conf import settings

from dressage.datasets.limits import ROWS_PER_GROUP
from dressage.datasets.rows import Row
from dressage.embedded.private_files import sync_folder

SCHEMA = pa.schema(
    [
        pa.field("row", pa.string(), nullable=False),  # the whole row as JSON text
        pa.field("prompt", pa.string(), nullable=False),
        pa.field("answer", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that is written completely and on disk."""

    path: Path
    bytes: int
    sha256: str


def write(rows: Iterable[Row]) -> Path:
    """Stream rows into a temporary Parquet file. The caller places it with ``keep`` or removes it."""
    settings.DATASET_ROOT.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix="upload-", suffix=".tmp", dir=settings.DATASET_ROOT)
    os.close(descriptor)
    path = Path(name)
    try:
        with pq.ParquetWriter(path, SCHEMA, compression="zstd") as writer:
            for batch in _batches(rows):
                writer.write_table(batch)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def sha256_of(path: Path) -> str:
    """The content hash. Equal rows in equal order give equal files."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def keep(temporary: Path, folder: str) -> StoredFile:
    """Give a written file its final name, ``<folder>/<sha256>.parquet``, so that a power cut cannot halve it."""
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


def read_rows(path: Path, after: int, limit: int) -> Iterator[dict[str, Any]]:
    """Rows ``after``, ``after + 1``, …, at most ``limit``: ``{index, prompt, answer, row}``. Reads few row groups."""
    with pq.ParquetFile(path) as file:
        start = 0
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group).num_rows
            if start + size > after and start < after + limit:
                table = file.read_row_group(group)
                first = max(after - start, 0)
                for offset, record in enumerate(table.slice(first, after + limit - start - first).to_pylist()):
                    yield {"index": start + first + offset, **record, "row": json.loads(record["row"])}
            start += size


def read_rows_at(path: Path, numbers: Collection[int]) -> dict[int, Any]:
    """The JSON of rows by their number; numbers beyond the end are left out. Reads each row group at most once."""
    found: dict[int, Any] = {}
    wanted, start = sorted(set(numbers)), 0
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group).num_rows
            here = [number for number in wanted if start <= number < start + size]
            if here:
                column = file.read_row_group(group, columns=["row"]).column("row")
                found |= {number: json.loads(column[number - start].as_py()) for number in here}
            start += size
    return found


def _batches(rows: Iterable[Row]) -> Iterator[pa.Table]:
    iterator = iter(rows)
    while batch := list(islice(iterator, ROWS_PER_GROUP)):
        yield pa.table(
            {
                "row": [json.dumps(row.data, ensure_ascii=False, separators=(",", ":")) for row in batch],
                "prompt": [row.prompt for row in batch],
                "answer": [row.answer for row in batch],
            },
            schema=SCHEMA,
        )

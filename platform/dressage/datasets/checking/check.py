"""Checks a file: one pass hashes it, a second checks every row and writes the rows to a temporary Parquet file."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from typing_extensions import TypedDict

from dressage.common.api.problems import invalid
from dressage.datasets.cards.row_licences import LicencesOf
from dressage.datasets.files.columnar.stored import TakenRows
from dressage.datasets.files.origin import Origin
from dressage.datasets.files.reading import UploadedRows
from dressage.datasets.rows.row import Row
from dressage.datasets.versions import storage
from trainer_core.datasets.mapping import DatasetMapping


class TooManyRows(Exception):
    """The file has more rows than the team's quota has left."""


class CheckOrder(TypedDict):
    """What is known about a file before it is read, and how to read it."""

    name: str
    size: int
    sha256: str
    """Hash that the file must have, in hexadecimal digits; empty if none was declared."""
    mapping: dict[str, Any] | None
    rows_left: int
    """Rows that the team may still store."""
    folder: str
    """Folder for the output."""


class CheckResult(TypedDict):
    """A file whose rows were all read and are valid."""

    rows: int
    columns: list[dict[str, str]]
    origin: Origin
    licence: str
    """The licence that the rows name; empty if not all of them name one."""
    path: str
    """The Parquet file. The caller removes it."""


def check(file: BinaryIO, order: CheckOrder) -> CheckResult:
    """Check the rows of a file, and write them to a Parquet file in ``order["folder"]``.

    Raises:
        Problem: 422 if the file is refused or is not the one that was declared. No output is left then.
        TooManyRows: the file has more rows than the team has left.
    """
    mapping = DatasetMapping.model_validate(order["mapping"]) if order["mapping"] is not None else None
    rows = UploadedRows(file, order["name"], mapping)
    file.seek(0)
    digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    if order["sha256"] and digest != order["sha256"]:
        detail = "Its SHA-256 is not the one that was declared. Cancel the upload, and send the file anew."
        raise invalid("/upload", detail, code="wrong_sha256")
    parts = require_few(rows.parts(), order["rows_left"])
    return store(rows, parts, Path(order["folder"]), name=order["name"], size=order["size"], sha256=digest)


def store(
    rows: UploadedRows, passed: Iterable[Row | TakenRows], folder: Path, *, name: str, size: int, sha256: str
) -> CheckResult:
    """Read every row into a Parquet file.

    Args:
        rows: the rows of the file, for their metadata.
        passed: the same rows as a stream on which they may be counted.
        folder: folder for the output.
        name: the file's name.
        size: its size in bytes.
        sha256: its hash.

    Raises:
        Problem: 422 with the faults of the file. No output is left then.
    """
    licences = LicencesOf(passed)
    temporary = storage.write(licences, folder)
    try:
        rows.raise_errors()
        origin = rows.origin(name=name, size=size, sha256=sha256)
    except BaseException:
        temporary.unlink()
        raise
    return {
        "rows": rows.rows,
        "columns": rows.described_columns(),
        "origin": origin,
        "licence": licences.together(),
        "path": str(temporary),
    }


def require_few(parts: Iterable[Row | TakenRows], left: int) -> Iterator[Row | TakenRows]:
    """Pass rows through. Raises TooManyRows at the first row beyond the limit."""
    number = 0
    for part in parts:
        number += 1 if isinstance(part, Row) else len(part)
        if number > left:
            raise TooManyRows
        yield part

"""Row notes: facts that operations find about the rows of a version, such as difficulty, stored next to the rows.

A version never changes, so later findings are stored in separate files: one Parquet file per name, with exactly the
version's rows in order, and null if nothing is known. The row groups match those of the version's file.
"""

import os
import tempfile
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from typing_extensions import TypedDict

from dressage.common.actors import Actor
from dressage.common.api.problems import not_found
from dressage.datasets.limits import ROWS_PER_GROUP
from dressage.datasets.models import DatasetVersion, RowNotes
from dressage.datasets.versions import storage
from dressage.embedded.private_files import sync_folder
from dressage.teams.services import record_audit

TYPES: dict[pa.DataType, str] = {
    pa.bool_(): "boolean",
    pa.int64(): "integer",
    pa.float64(): "number",
    pa.string(): "string",
}
"""Column types, and their names in the API."""


class NoteSource(TypedDict):
    """The operation that found the notes."""

    kind: str
    """Kind of the operation, such as ``duplicates``."""
    id: str
    """Id of the job that carried it out."""
    arguments: dict[str, Any]
    """Arguments of the job."""


@dataclass(frozen=True, slots=True)
class WrittenNotes:
    """Notes in a temporary file. Its writer removes it if the notes are not stored."""

    path: Path
    rows: int
    columns: list[dict[str, str]]
    """``[{name, type}]``."""


def write(
    version: DatasetVersion,
    name: str,
    tables: pa.Table | Iterable[pa.Table],
    *,
    by: Actor,
    source: NoteSource,
    carried: bool = True,
) -> RowNotes:
    """Store notes of a version's rows. Replaces notes of the same name.

    Args:
        version: the version, with its rows present.
        name: name of the notes, such as ``difficulty``.
        tables: as many rows as the version has, in its order, in one or more tables of the same schema.
        by: who requested them.
        source: the operation that found them.
        carried: whether they also hold for the same row in other versions, as difficulty does and a cluster does not.

    Raises:
        ValueError: the type of a column is not in ``TYPES``, or the number of rows is wrong.
        DatasetVersion.DoesNotExist: the version has been deleted. Nothing is stored then.
    """
    written = prepare([tables] if isinstance(tables, pa.Table) else tables)
    try:
        if written.rows != version.rows:
            raise ValueError(f"the notes have {written.rows} rows, and {version.ref} has {version.rows}")
        with transaction.atomic():
            found = DatasetVersion.objects.select_for_update(of=("self",), no_key=True).select_related("dataset")
            locked = found.get(pk=version.pk, deleted_at=None)
            former = RowNotes.objects.filter(version=locked, name=name).first()
            if former is not None:
                _discard([former])
            return keep(locked, name, written, by=by, source=source, carried=carried)
    finally:
        written.path.unlink(missing_ok=True)


def prepare(tables: Iterable[pa.Table]) -> WrittenNotes:
    """Write notes to a temporary file. Raises ValueError if the type of a column is not in ``TYPES``."""
    settings.DATASET_ROOT.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix="notes-", suffix=".tmp", dir=settings.DATASET_ROOT)
    os.close(descriptor)
    path, rows, writer = Path(name), 0, None
    try:
        for table in storage.regrouped(tables, texts=()):  # the group of a row follows from its number
            if writer is None:
                _check_types(table.schema)
                writer = pq.ParquetWriter(path, table.schema, compression="zstd")
            writer.write_table(table, row_group_size=ROWS_PER_GROUP)
            rows += table.num_rows
        if writer is None:
            raise ValueError("notes without rows")
        writer.close()
        with path.open("rb") as file:
            os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return WrittenNotes(path, rows, [{"name": field.name, "type": TYPES[field.type]} for field in writer.schema])


def keep(
    version: DatasetVersion, name: str, written: WrittenNotes, *, by: Actor, source: NoteSource, carried: bool = True
) -> RowNotes:
    """Move written notes into place, in the caller's transaction. The version must not have notes of that name."""
    made = RowNotes(version=version, name=name, carried=carried, source=source, created_by=by.label)
    made.columns = written.columns
    made.file = f"{version.dataset_id}/notes/{made.id}.parquet"
    made.save(force_insert=True)
    made.path.parent.mkdir(parents=True, exist_ok=True)
    os.replace(written.path, made.path)
    sync_folder(made.path.parent)
    return made


def of(version: DatasetVersion) -> list[RowNotes]:
    """All notes of a version, by name."""
    return list(visible(version).order_by("name"))


def visible(version: DatasetVersion) -> QuerySet[RowNotes]:
    """Notes that the team may see. A guest sees none: they contain the owner's jobs and other datasets."""
    return RowNotes.objects.none() if version.seen_by_guest else RowNotes.objects.filter(version=version)


def named(version: DatasetVersion, name: str) -> RowNotes:
    """The notes with that name. Raises a 404 problem."""
    found = visible(version).filter(name=name).first()
    if found is None:
        raise not_found("row notes")
    return found


def difficulty(version: DatasetVersion) -> RowNotes | None:
    """The notes with the pass rate and number of samples of each row; None if there are none."""
    found = visible(version).filter(name="difficulty").first()
    told = set() if found is None else {column["name"] for column in found.columns}
    return found if {"pass_rate", "samples"} <= told else None


def read(version: DatasetVersion, name: str, columns: Collection[str] | None = None) -> pa.Table:
    """Notes of all rows in order, or some of their columns. Raises a 404 problem if there are none."""
    return pq.read_table(named(version, name).path, columns=list(columns) if columns is not None else None)


def groups(notes: RowNotes, columns: Collection[str] | None = None) -> Iterator[pa.Table]:
    """Notes for each row group of the version's file, in order."""
    with pq.ParquetFile(notes.path) as file:
        for group in range(file.num_row_groups):
            yield file.read_row_group(group, columns=list(columns) if columns is not None else None)


def at(version: DatasetVersion, numbers: Collection[int]) -> dict[int, dict[str, dict[str, Any]]]:
    """``{number: {name: {column: value}}}`` of rows by number, from all notes with data about them."""
    found: dict[int, dict[str, dict[str, Any]]] = {number: {} for number in numbers}
    for notes in of(version):
        for number, values in _values_at(notes, sorted(set(numbers))):
            if any(value is not None for value in values.values()):
                found[number][notes.name] = values
    return found


@transaction.atomic
def delete(notes: RowNotes, actor: Actor) -> None:
    """Delete notes and their file. The rows stay."""
    dataset = notes.version.dataset
    before = {"ref": notes.version.ref, "notes": notes.name, "source": notes.source}
    _discard([notes])
    record_audit(dataset.team, actor, "dataset.notes.delete", "dataset", dataset.id, before=before)


def discard_all(versions: Collection[str]) -> None:
    """Delete all notes of versions, given by primary keys, in the caller's transaction."""
    _discard(list(RowNotes.objects.filter(version__in=versions)))


def _discard(notes: Collection[RowNotes]) -> None:
    RowNotes.objects.filter(pk__in=[one.pk for one in notes]).delete()
    for one in notes:
        transaction.on_commit(partial(one.path.unlink, missing_ok=True))


def _check_types(schema: pa.Schema) -> None:
    for field in schema:
        if field.type not in TYPES:
            raise ValueError(f"the column {field.name!r} of notes has the type {field.type}")


def _values_at(notes: RowNotes, numbers: list[int]) -> Iterator[tuple[int, dict[str, Any]]]:
    with pq.ParquetFile(notes.path) as file:
        start = 0
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group).num_rows
            here = [number for number in numbers if start <= number < start + size]
            if here:
                table = file.read_row_group(group)
                yield from zip(here, table.take([number - start for number in here]).to_pylist(), strict=True)
            start += size

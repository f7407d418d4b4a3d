"""Upload preview: the format of a file, how its first rows would be read, and which rows are faulty."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal

from typing_extensions import TypedDict

from dressage.common.api.errors import FieldError
from dressage.common.api.problems import Problem
from dressage.datasets.files.faults import FileFaultError
from dressage.datasets.files.origin import MappedColumn
from dressage.datasets.files.records import LeftOutError, Record
from dressage.datasets.mapping.abridged import abridged
from dressage.datasets.mapping.columns import PreviewColumn, described
from dressage.datasets.mapping.head import Head, read_head
from dressage.datasets.mapping.selectors import fitting
from dressage.datasets.models import SavedMapping
from dressage.datasets.rows.row import Row, check_row
from dressage.teams.models import Team
from trainer_core.datasets import Shape, UnknownShapeError, recognise
from trainer_core.datasets.mapping import DatasetMapping, Proposal, propose, shape_of

SHOWN = 10
"""Number of rows that a preview shows."""
_FAULTS = 20
By = Literal["given", "shape", "saved", "proposal"]


class PreviewRow(TypedDict):
    """One of the first rows."""

    number: int
    """Line or row in the file, from 1."""
    source: dict[str, Any] | None
    """The row as it is in the file, abridged."""
    row: dict[str, Any] | None
    """The row as it would be stored, abridged; null if it is faulty."""
    fault: str | None


class PreviewFault(TypedDict):
    """A row that would be refused."""

    number: int
    detail: str


class PreviewShape(TypedDict):
    """The known shape that was found."""

    name: str
    title: str
    mapping: list[MappedColumn]


@dataclass(frozen=True, slots=True)
class DatasetPreview:
    """What an upload would make of the first rows."""

    format: str
    packing: str | None
    unit: str
    columns: list[PreviewColumn]
    shape: PreviewShape | None
    saved: list[SavedMapping]
    proposal: Proposal | None
    by: By | None
    mapping: DatasetMapping | None
    mapping_id: str | None
    rows: list[PreviewRow]
    faults: list[PreviewFault]
    examined: int
    faulty: int
    whole: bool


def preview(
    team: Team, file: BinaryIO, name: str, *, whole: bool, mapping: DatasetMapping | None = None
) -> DatasetPreview:
    """Preview a file, read by ``mapping``, otherwise by its shape, a saved mapping for its columns, or a proposal.

    Raises:
        Problem: 422 if the file cannot be read, its beginning is not enough, or too much would have to be unpacked; 429
            or 503 if too many requests are unpacking files already.
    """
    head = _head(team.id, file, name, whole=whole)
    rows = [record.value for record in head.records if isinstance(record.value, dict)]
    shape = _recognised(rows)
    saved = fitting(team, {column for row in rows for column in row})
    proposal = propose(rows)
    used, by, mapping_id = _chosen(mapping, shape, rows, saved, proposal)
    reader = shape_of(used) if used is not None else shape if by == "shape" else None
    read = [_read(record, reader) for record in head.records]
    faults: list[PreviewFault] = [
        {"number": record.number, "detail": fault}
        for record, (_, fault) in zip(head.records, read, strict=True)
        if fault is not None
    ]
    return DatasetPreview(
        format=head.format.name,
        packing=head.packing,
        unit=head.format.unit,
        columns=described(rows),
        shape=_told(shape) if shape else None,
        saved=saved,
        proposal=proposal,
        by=by,
        mapping=used,
        mapping_id=mapping_id,
        rows=[_shown(record, *one) for record, one in zip(head.records[:SHOWN], read, strict=False)],
        faults=faults[:_FAULTS],
        examined=len(head.records),
        faulty=len(faults),
        whole=head.whole,
    )


def _head(team_id: str, file: BinaryIO, name: str, *, whole: bool) -> Head:
    try:
        head = read_head(team_id, file, name, whole=whole)
        if not head.records:
            raise FileFaultError("The file has no rows.")
    except FileFaultError as error:
        raise Problem(
            422,
            "The file has errors",
            str(error),
            errors=[FieldError(pointer="/file", detail=str(error))],
            code="invalid_dataset",
        ) from error
    return head


def _recognised(rows: Sequence[dict[str, Any]]) -> Shape | None:
    """The shape of the first row that an upload would recognise and can read; otherwise the first shape recognised."""
    first: Shape | None = None
    for row in rows:
        try:
            shape = recognise(row)
        except UnknownShapeError:
            continue
        first = first or shape
        if _converts(shape, row):
            return shape
    return first


def _chosen(
    given: DatasetMapping | None,
    shape: Shape | None,
    rows: Sequence[dict[str, Any]],
    saved: Sequence[SavedMapping],
    proposal: Proposal | None,
) -> tuple[DatasetMapping | None, By | None, str | None]:
    """The mapping that the rows are read by, the reason, and the id of the saved mapping if it is one."""
    if given is not None:
        return given, "given", None
    if shape is not None and any(_converts(shape, row) for row in rows):
        return None, "shape", None
    if saved:
        return DatasetMapping.model_validate(saved[0].mapping), "saved", saved[0].id
    if proposal is not None:
        return proposal.mapping, "proposal", None
    return None, "shape" if shape else None, None


def _converts(shape: Shape, row: dict[str, Any]) -> bool:
    try:
        check_row(shape.convert(row))
    except ValueError:
        return False
    return True


def _read(record: Record, shape: Shape | None) -> tuple[Row | None, str | None]:
    """(the row as it would be stored, its fault). Both None if it is not known how to read it."""
    if isinstance(record.value, ValueError):
        return None, str(record.value)
    if shape is None:
        return None, None
    try:
        return check_row(shape.convert(record.value)), None
    except LeftOutError as error:
        return None, f"It is left out: {error}"
    except ValueError as error:
        return None, str(error)


def _shown(record: Record, row: Row | None, fault: str | None) -> PreviewRow:
    source = abridged(record.value) if isinstance(record.value, dict) else None
    return {"number": record.number, "source": source, "row": abridged(row.data) if row else None, "fault": fault}


def _told(shape: Shape) -> PreviewShape:
    mapping: list[MappedColumn] = [{"column": one.column, "source": one.source} for one in shape.mapping]
    return {"name": shape.name, "title": shape.title, "mapping": mapping}

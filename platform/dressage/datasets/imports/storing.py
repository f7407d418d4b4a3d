"""Reads the rows of fetched files, in the same way as those of an upload, and stores them as one version."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import PurePosixPath
from typing import BinaryIO

from django.db import transaction

from dressage.common.actors import Actor
from dressage.common.lengthy import FILES
from dressage.datasets import services
from dressage.datasets.cards.licences import tidy, together
from dressage.datasets.cards.services import fill_card
from dressage.datasets.files.columnar.stored import TakenRows
from dressage.datasets.files.origin import ImportOrigin
from dressage.datasets.files.reading import UploadedRows
from dressage.datasets.imports import files
from dressage.datasets.mapping.preview import preview
from dressage.datasets.models import DatasetImport, DatasetImportState, DatasetSourceKind
from dressage.datasets.quota.usage import require_quota, within
from dressage.datasets.rows.row import Row
from dressage.jobs.local import NotOurs, end_own
from dressage.policies.access.selectors import sources
from trainer_core.datasets.mapping import DatasetMapping

_ROWS_PER_TICK = 500
_CHUNK = 4 << 20


def shape_is_known(row: DatasetImport) -> bool:
    """Whether it is known how to read the rows: by a known shape, or a saved mapping for the same columns.

    Raises:
        Problem: 422 if the first file cannot be read.
    """
    with files.path_of(row.id, 0).open("rb") as file:
        found = preview(row.team, file, row.files[0]["path"], whole=True)
    if found.by == "saved" and found.mapping is not None:
        row.mapping = found.mapping.model_dump(mode="json")
    return found.by in ("shape", "saved")


def store(row: DatasetImport, actor: Actor, *, tick: Callable[[int], None]) -> None:
    """Read the files of an import, and store their rows as a new dataset or as the next version of one.

    Args:
        row: the import, claimed by the worker; ``mapping`` says how the rows are read.
        actor: who requested it.
        tick: called every few hundred rows with the number of bytes read so far.

    Raises:
        Problem: as for uploads. Nothing is stored then.
        NotOurs: the import was cancelled, or another worker has it.
    """
    mapping = DatasetMapping.model_validate(row.mapping) if row.mapping is not None else None
    with ExitStack() as stack:
        opened = [
            (stack.enter_context(files.path_of(row.id, number).open("rb")), file["path"])
            for number, file in enumerate(row.files)
        ]
        rows = UploadedRows(*opened[0], mapping, further=opened[1:])
        left = require_quota(row.team_id).rows_left
        with FILES.place(row.team_id):
            passed = _told(within(rows.parts(), left), [file for file, _ in opened], tick)
            size = sum(file["bytes"] for file in row.files)
            checked = services.checked_rows(rows, passed, name=_file_name(row), size=size, sha256=_sha256(row))
    try:
        checked.origin["imported"] = _origin(row)
        with transaction.atomic():
            _add(row, actor, checked)
    finally:
        checked.temporary.unlink(missing_ok=True)


def _add(row: DatasetImport, actor: Actor, checked: services.CheckedFile) -> None:
    licence = (
        together(sorted({one for one in (tidy(row.licence), checked.licence) if one}))
        if row.licence
        else checked.licence
    )
    checked.licence = licence
    # Lock the import's row first: a request to cancel it now waits, and then finds it ready.
    if not end_own(row, DatasetImportState.READY):
        raise NotOurs
    if row.dataset_id is None:
        dataset = services.add_dataset(
            row.team, actor, checked, name=row.name, slug=row.slug, description=row.description, source=_source(row)
        )
        version = dataset.versions.get(number=1)
    else:
        dataset = services.locked_dataset(row.dataset_id)
        version = services.add_checked(dataset, actor, checked)
        fill_card(dataset, licence=checked.licence, source=_source(row))
    DatasetImport.objects.filter(pk=row.pk).update(version=version)


def _told(
    parts: Iterable[Row | TakenRows], opened: list[BinaryIO], tick: Callable[[int], None]
) -> Iterator[Row | TakenRows]:
    for number, part in enumerate(parts):
        if number % _ROWS_PER_TICK == 0 or not isinstance(part, Row):
            tick(sum(file.tell() for file in opened))
        yield part


def _file_name(row: DatasetImport) -> str:
    first = PurePosixPath(row.files[0]["path"]).name
    return first if len(row.files) == 1 else f"{first} and {len(row.files) - 1} more"


def _sha256(row: DatasetImport) -> str:
    """The hash of the file; for several files, that of their concatenation."""
    if len(row.files) == 1:
        return str(row.files[0]["sha256"])
    digest = hashlib.sha256()
    for number in range(len(row.files)):
        with files.path_of(row.id, number).open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    return digest.hexdigest()


def _origin(row: DatasetImport) -> ImportOrigin:
    return {
        "source": row.source,  # type: ignore[typeddict-item]  # one of the kinds
        "location": row.shown_location,
        "revision": row.revision,
        "commit": row.commit or None,
        "config": row.config,
        "split": row.split,
        "files": [{"path": one["path"], "bytes": one["bytes"], "sha256": one["sha256"]} for one in row.files],
    }


def _source(row: DatasetImport) -> str:
    """Origin of the rows, as text for the card."""
    if row.source != DatasetSourceKind.HUB:
        return row.shown_location
    endpoint = sources(row.team)["hub"]["endpoint"]
    return f"{endpoint}/datasets/{row.location} @ {row.commit[:12]}"

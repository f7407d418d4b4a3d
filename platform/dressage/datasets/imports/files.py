"""Import folders on disk. Files stay until they have become a version, or for a day if nobody needs them."""

import shutil
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from dressage.datasets.models import DatasetImport
from dressage.imports.models import FAILED
from dressage.jobs.local import end

KEPT_FOR = timedelta(hours=24)
"""How long the files of an import are kept if it has failed or waits for a person."""
_FOLDER = "imports"
_EXPIRED = "Nobody said within a day how it is read, so its files were removed. Retry fetches them again."


def folder_of(import_id: str) -> Path:
    """The folder of an import's files."""
    root: Path = settings.DATASET_ROOT / _FOLDER
    return root / import_id


def path_of(import_id: str, number: int) -> Path:
    """The file of an import with index ``number`` in the listing, from 0."""
    return folder_of(import_id) / f"{number:04}"


def are_there(row: DatasetImport) -> bool:
    """Whether all files of an import were fetched and compared, and still exist."""
    return bool(row.files) and all(
        file["sha256"] and path.is_file() and path.stat().st_size == file["bytes"]
        for file, path in ((file, path_of(row.id, number)) for number, file in enumerate(row.files))
    )


def remove(import_id: str) -> None:
    """Remove the folder if it exists."""
    shutil.rmtree(folder_of(import_id), ignore_errors=True)


def sweep(now: float) -> None:
    """End imports that have waited too long for a user, and remove folders that are no longer needed.

    Args:
        now: seconds since 1970.
    """
    since = timezone.now() - KEPT_FOR
    for row in DatasetImport.objects.filter(state="waiting", heard_at__lt=since):
        end(row, FAILED, _EXPIRED, files=[])
        remove(row.id)
    for folder in (settings.DATASET_ROOT / _FOLDER).glob(f"{DatasetImport.id_prefix}_*"):
        with suppress(FileNotFoundError):
            if folder.stat().st_mtime < now - KEPT_FOR.total_seconds() and not _is_needed(folder.name, since):
                DatasetImport.objects.filter(pk=folder.name).update(files=[])
                remove(folder.name)


def _is_needed(import_id: str, since: object) -> bool:
    rows = DatasetImport.objects.filter(pk=import_id)
    if rows.filter(state__in=[*DatasetImport.open_states(), "waiting"]).exists():
        return True
    return rows.filter(state=FAILED, finished_at__gte=since).exists()

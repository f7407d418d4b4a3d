"""Unfinished uploads on disk: one private file each, to which parts are appended."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from django.conf import settings

from dressage.embedded.private_files import sync_folder

SUFFIX = ".part"
_FOLDER = "uploads"
_ONLY_MINE = 0o600


def folder() -> Path:
    """The folder of all unfinished uploads."""
    root: Path = settings.DATASET_ROOT / _FOLDER
    return root


def path_of(upload_id: str) -> Path:
    """The file of one upload."""
    return folder() / f"{upload_id}{SUFFIX}"


def make(upload_id: str) -> None:
    """Create the empty file."""
    folder().mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(path_of(upload_id), os.O_CREAT | os.O_WRONLY, _ONLY_MINE))
    sync_folder(folder())


def append(upload_id: str, offset: int, part: bytes) -> None:
    """Write a part at an offset and flush it to disk. Bytes after it from a killed process are truncated.

    Raises:
        FileNotFoundError: the file is gone.
        OSError: the disk is full, or fails.
    """
    with path_of(upload_id).open("r+b") as file:
        file.truncate(offset)
        file.seek(offset)
        file.write(part)
        file.flush()
        os.fsync(file.fileno())


def remove(upload_id: str) -> None:
    """Remove the file if it exists."""
    path_of(upload_id).unlink(missing_ok=True)


def free_bytes() -> int:
    """Free bytes on the disk of the uploads."""
    folder().mkdir(parents=True, exist_ok=True, mode=0o700)
    return shutil.disk_usage(folder()).free


def abandoned(known: set[str], now: float, spared_s: float) -> list[str]:
    """Ids of files that no database row names and that have not been written to recently.

    Args:
        known: ids of all existing uploads.
        now: seconds since 1970.
        spared_s: seconds after the last write during which a file is not considered abandoned.
    """
    found = []
    for path in folder().glob(f"*{SUFFIX}"):
        with suppress(FileNotFoundError):
            if path.stem not in known and path.stat().st_mtime < now - spared_s:
                found.append(path.stem)
    return found

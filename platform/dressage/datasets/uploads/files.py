"""The parts of unfinished uploads on disk: one private file each, to which parts are appended."""

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
    """Make the empty file."""
    folder().mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(path_of(upload_id), os.O_CREAT | os.O_WRONLY, _ONLY_MINE))
    sync_folder(folder())


def append(upload_id: str, offset: int, part: bytes) -> None:
    """Write a part at an offset and have it survive a power cut. What a killed process left behind it is cut off.

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
    """Remove the file, where there is one."""
    path_of(upload_id).unlink(missing_ok=True)


def free_bytes() -> int:
    """Room on the disk of the uploads."""
    folder().mkdir(parents=True, exist_ok=True, mode=0o700)
    return shutil.disk_usage(folder()).free


def abandoned(known: set[str], now: float, spared_s: float) -> list[str]:
    """Ids of files that no row names, and that nobody has written for a while.

    Args:
        known: ids of all uploads that there are.
        now: seconds since 1970.
        spared_s: seconds for which a file is left alone after it was written.
    """
    found = []
    for path in folder().glob(f"*{SUFFIX}"):
        with suppress(FileNotFoundError):
            if path.stem not in known and path.stat().st_mtime < now - spared_s:
                found.append(path.stem)
    return found

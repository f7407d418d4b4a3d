"""Copies a checkpoint's Hugging Face folder. The bytes copied are the bytes hashed, even if files are renamed."""

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from dressage.embedded.private_files import sync_folder

MANIFEST = "manifest.json"
FORMAT = 1
"""Version of the manifest that ``trainer_core.update.saving.integrity`` writes (the web tier cannot import that)."""
_CHUNK = 4 << 20
_MAX_MANIFEST_BYTES = 16 << 20


class SnapshotError(ValueError):
    """The checkpoint cannot be copied. The message states the reason, and names no path on the machine."""


def copy_checkpoint(source: Path, target: Path, manifest_sha256: str) -> None:
    """Copy the top-level files of ``source`` that its manifest lists, and check their hashes while copying.

    Args:
        source: the checkpoint's folder, with links resolved.
        target: a folder that does not exist.
        manifest_sha256: hash of the manifest, recorded when the checkpoint was announced.

    Raises:
        SnapshotError: the manifest is a different one, or a file is missing, a link, or differs from the manifest.
        OSError: the disk is full or cannot be written.
    """
    with _folder(source) as folder:
        files = _listed(folder, manifest_sha256)
        target.mkdir(parents=True, mode=0o700)
        for name, expected in files.items():
            with _open(folder, name) as reader, (target / name).open("xb") as writer:
                digest = hashlib.sha256()
                while chunk := reader.read(_CHUNK):
                    digest.update(chunk)
                    writer.write(chunk)
                writer.flush()
                os.fsync(writer.fileno())
            if digest.hexdigest() != expected:
                raise SnapshotError(f"{name} was changed after the checkpoint was written")
        sync_folder(target)
        sync_folder(target.parent)


class RecordedFile(NamedTuple):
    """An open file of a checkpoint."""

    content: BinaryIO
    bytes: int
    sha256: str
    """Hash from the manifest. The reader of the file compares it."""


@contextmanager
def open_checkpoint(source: Path, manifest_sha256: str) -> Iterator[dict[str, RecordedFile]]:
    """The same files by name, all open at the same time, so that none can disappear while others are read.

    Raises:
        SnapshotError: as for ``copy_checkpoint``.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(_folder(source))
        found: dict[str, RecordedFile] = {}
        for name, expected in _listed(folder, manifest_sha256).items():
            content = stack.enter_context(_open(folder, name))
            found[name] = RecordedFile(content, os.fstat(content.fileno()).st_size, expected)
        yield found


@contextmanager
def _folder(source: Path) -> Iterator[int]:
    """Descriptor of the folder."""
    try:
        folder = os.open(source, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise SnapshotError("its files are no longer on the disk") from error
    try:
        yield folder
    finally:
        os.close(folder)


def _listed(folder: int, manifest_sha256: str) -> dict[str, str]:
    """SHA-256 by name of the top-level files of the folder, without training state and adapters in subfolders."""
    with _open(folder, MANIFEST) as reader:
        text = reader.read(_MAX_MANIFEST_BYTES)
    if hashlib.sha256(text).hexdigest() != manifest_sha256:
        raise SnapshotError("its manifest differs from the recorded one")
    try:
        document: dict[str, Any] = json.loads(text)
        files = {str(name): str(entry["sha256"]) for name, entry in document["files"].items()}
        known = document["format"] == FORMAT
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SnapshotError("its manifest cannot be read") from error
    if not known:
        raise SnapshotError("its manifest has another format")
    return {name: digest for name, digest in files.items() if "/" not in name and name not in ("", ".", "..")}


def _open(folder: int, name: str) -> BinaryIO:
    """Open a regular file directly in the open folder. Links are refused, and opening never blocks."""
    try:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except (OSError, ValueError) as error:
        raise SnapshotError(f"{name} is missing or a link") from error
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise SnapshotError(f"{name} is not a file")
    return os.fdopen(file, "rb")

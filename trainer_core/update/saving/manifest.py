"""Manifest of a checkpoint: the hash of every file. Without torch: the platform verifies as the learner does."""

import json
from collections.abc import Callable
from hashlib import file_digest, sha256
from pathlib import Path

MANIFEST = "manifest.json"
FORMAT = 1


class CheckpointError(ValueError):
    """A checkpoint cannot be written or read; the message names the file or tensor."""


class DamagedFile(CheckpointError):
    """A file of a checkpoint is not as it was written."""

    def __init__(self, folder: Path, name: str, fault: str) -> None:
        """``name``: path of the file in ``folder``. ``fault``: rest of a sentence about it."""
        super().__init__(f"{folder / name}: {fault}")
        self._facts = folder, name, fault
        self.name = name
        self.fault = f"{name} {fault}"
        """Clause that names the file and no folder of the machine."""

    def __reduce__(self) -> tuple[type["DamagedFile"], tuple[Path, str, str]]:
        """Travel between processes with the facts, as the message alone cannot be taken apart again."""
        return type(self), self._facts


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's content.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def write_manifest(folder: Path) -> str:
    """Hash every file under ``folder`` into its manifest; returns the SHA-256 of the manifest itself."""
    files = {
        path.relative_to(folder).as_posix(): {"sha256": sha256_of(path), "bytes": path.stat().st_size}
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != MANIFEST
    }
    text = json.dumps({"format": FORMAT, "files": files}, indent=1)
    (folder / MANIFEST).write_text(text)
    return sha256(text.encode()).hexdigest()


def verify_manifest(folder: Path, digest: Callable[[Path], str] | None = sha256_of) -> str:
    """Check every file under ``folder`` against the manifest; returns the SHA-256 of the manifest itself.

    Args:
        folder: the checkpoint.
        digest: computes a file's SHA-256; None to compare only names and sizes, without reading the files.

    Raises:
        DamagedFile: the manifest is missing or unreadable, or a file is missing, changed or not listed.
        OSError: a file cannot be read. It may be whole.
    """
    path = folder / MANIFEST
    try:
        text = path.read_bytes()
    except OSError as error:
        fault = f"cannot be read ({error.strerror}); the checkpoint is incomplete"
        raise DamagedFile(folder, MANIFEST, fault) from error
    try:
        document = json.loads(text)
        listed = {str(name): (str(entry["sha256"]), entry.get("bytes")) for name, entry in document["files"].items()}
        known = document["format"] == FORMAT
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedFile(folder, MANIFEST, "is not a checkpoint manifest") from error
    if not known:
        raise DamagedFile(folder, MANIFEST, f"has format {document['format']!r}, which is not {FORMAT}")
    present = {
        file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file() and file.name != MANIFEST
    }
    for name in sorted(listed.keys() | present):
        if name not in present:
            raise DamagedFile(folder, name, "is missing")
        if name not in listed:
            raise DamagedFile(folder, name, "is not in the manifest")
        if not _is_as_written(folder / name, *listed[name], digest):
            raise DamagedFile(folder, name, "was changed after the checkpoint was written")
    return sha256(text).hexdigest()


def _is_as_written(path: Path, written: str, size: int | None, digest: Callable[[Path], str] | None) -> bool:
    try:
        if size is not None and path.stat().st_size != size:
            return False
        return digest is None or digest(path) == written
    except FileNotFoundError:
        return False

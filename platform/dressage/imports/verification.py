"""Compares files with their checksums. Each file is read once; its SHA-256 is reused for the policy's own hash."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from dressage.imports.remote import Checksum, RemoteFile

_CHUNK = 4 << 20


def verified_sha256(path: Path, file: RemoteFile, tick: Callable[[int], None]) -> str | None:
    """SHA-256 of the file on disk; None if the file is not the one that was listed.

    Args:
        path: the file on disk.
        file: its entry in the listing.
        tick: called with the number of bytes read so far.
    """
    if path.stat().st_size != file.size:
        return None
    sha256 = hashlib.sha256()
    other = _other(file)
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            sha256.update(chunk)
            if other is not None:
                other.update(chunk)
            tick(stream.tell())
    found = (other or sha256).hexdigest()
    return None if file.checksum is not None and found != file.checksum.digest else sha256.hexdigest()


def _other(file: RemoteFile) -> "hashlib._Hash | None":
    """A hasher for the other side's checksum, if that is not SHA-256.

    It detects accidents; TLS protects against attacks.
    """
    match file.checksum:
        case Checksum("git"):
            return hashlib.sha1(f"blob {file.size}\0".encode(), usedforsecurity=False)
        case Checksum("md5"):
            return hashlib.md5(usedforsecurity=False)
        case _:
            return None

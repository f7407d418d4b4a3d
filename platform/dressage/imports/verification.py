"""Comparison of files with their checksums. Each is read once, and its SHA-256 kept for the policy's own hash."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from dressage.imports.remote import Checksum, RemoteFile

_CHUNK = 4 << 20


def verified_sha256(path: Path, file: RemoteFile, tick: Callable[[int], None]) -> str | None:
    """SHA-256 of the file on the disk; None when it is not what was listed.

    Args:
        path: the file on the disk.
        file: what was listed.
        tick: told how many of its bytes were read so far.
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
    """The hash that the other side has, where it is not SHA-256. It guards against accidents; TLS against people."""
    match file.checksum:
        case Checksum("git"):
            return hashlib.sha1(f"blob {file.size}\0".encode(), usedforsecurity=False)
        case Checksum("md5"):
            return hashlib.md5(usedforsecurity=False)
        case _:
            return None

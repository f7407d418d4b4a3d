"""A folder as a streamed tar archive: nothing is copied, and files deleted during streaming are still complete."""

import os
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from dressage.common.api.ranges import read_part

_BLOCK = tarfile.BLOCKSIZE


class Archive:
    """The regular files under a folder; links are not followed. Opens all files first, so that none can disappear."""

    def __init__(self, folder: Path, prefix: str, without: frozenset[str] = frozenset()) -> None:
        """
        Args:
            folder: the folder to pack.
            prefix: name of the folder inside the archive.
            without: names directly under ``folder`` to leave out.

        Raises:
            FileNotFoundError: the folder, or a file in it, is gone.
        """
        if not folder.is_dir():
            raise FileNotFoundError(folder)
        self._members: list[tuple[bytes, BinaryIO, int]] = []
        try:
            for path in _files(folder, without):
                self._add(path, f"{prefix}/{path.relative_to(folder).as_posix()}")
        except OSError:
            self.close()
            raise
        self.size = sum(len(header) + size + -size % _BLOCK for header, _, size in self._members) + 2 * _BLOCK

    def close(self) -> None:
        """Close the files; may be repeated."""
        for _, file, _ in self._members:
            file.close()

    def read(self, start: int, end: int) -> Iterator[bytes]:
        """The bytes of the archive from ``start`` up to, but excluding, ``end``, in chunks. No earlier byte is read."""
        position = 0
        for header, file, size in self._members:
            yield from _cut(header, position, start, end)
            position += len(header)
            yield from read_part(file, max(start - position, 0), min(end - position, size))
            position += size
            yield from _cut(bytes(-size % _BLOCK), position, start, end)
            position += -size % _BLOCK
        yield from _cut(bytes(2 * _BLOCK), position, start, end)

    def _add(self, path: Path, name: str) -> None:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        file = os.fdopen(descriptor, "rb")
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            file.close()
            return
        entry = tarfile.TarInfo(name)
        entry.size, entry.mtime, entry.mode = facts.st_size, int(facts.st_mtime), 0o644
        self._members.append((entry.tobuf(tarfile.PAX_FORMAT), file, facts.st_size))


def _cut(block: bytes, position: int, start: int, end: int) -> Iterator[bytes]:
    """The bytes of ``block``, which begins at ``position``, that are between ``start`` and ``end``."""
    if found := block[max(start - position, 0) : max(end - position, 0)]:
        yield found


def _files(folder: Path, without: frozenset[str]) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in without or path.is_symlink():
            continue
        if path.is_dir():
            yield from _files(path, frozenset())
        elif path.is_file():
            yield path

"""One worker's attempt at an import: fetch what is missing on disk, then compare files with their checksums.

The worker may be killed at any point. The next one lists the same files, continues, and compares everything at the end.
"""

import shutil
from abc import ABC, abstractmethod
from pathlib import Path

import structlog

from dressage.imports.models import DOWNLOADING, VERIFYING, Import, Transfer
from dressage.imports.progress import Progress
from dressage.imports.remote import ImportRefused, NetworkTrouble, RemoteFile, Source
from dressage.imports.verification import verified_sha256
from dressage.jobs.local import NotOurs, doing, fail, give_back, is_cancelled

logger = structlog.get_logger(__name__)

MAX_FAULTS = 10
"""Consecutive network faults, some ten seconds apart, after which an import fails."""
RESERVE_BYTES = 1 << 30
"""Free disk space that an import must leave."""
GIB = 1 << 30


class ImportWork(ABC):
    """One attempt. Each kind of import implements ``carry_out``."""

    refusals: tuple[type[Exception], ...] = (ImportRefused,)
    """Exceptions whose messages explain to users why the import cannot succeed."""

    def __init__(self, row: Import, part: Path) -> None:
        """
        Args:
            row: the import, claimed by this worker.
            part: the folder of its files, which only this worker uses.
        """
        self.part = part
        self.progress = Progress(row)
        self._row = row
        self._began_with = bytes_in(part)

    @abstractmethod
    def carry_out(self) -> None:
        """Perform the whole import."""

    def run(self) -> None:
        """Carry it out. Afterwards it is done, queued again, or failed with a message."""
        try:
            with doing(self._row, *self.refusals):
                self.carry_out()
        except NotOurs:
            self._leave()
        except NetworkTrouble as error:
            try_again(self._row, error, moved=bytes_in(self.part) > self._began_with)

    def path_of(self, file: RemoteFile) -> Path:
        """Path of a file on disk."""
        return self.part / file.name

    def has(self, file: RemoteFile) -> int:
        """Number of bytes of a file that are on disk."""
        path = self.path_of(file)
        return path.stat().st_size if path.is_file() else 0

    def require_disk(self, files: list[RemoteFile]) -> None:
        """Require enough disk space for what is missing."""
        missing = sum(file.size - min(self.has(file), file.size) for file in files)
        free = shutil.disk_usage(self.part).free - RESERVE_BYTES
        if missing > free:
            raise ImportRefused(
                f"It needs {gib(missing)} more on the platform's disk, which has {gib(max(0, free))} free for it. Have"
                " the operator free space, then retry."
            )

    def fetch(self, source: Source, files: list[RemoteFile]) -> None:
        """Fetch what is missing. Raises NetworkTrouble if the transfer stalls for good."""
        self.progress.begin(DOWNLOADING)
        for file in files:
            path = self.path_of(file)
            if self.has(file) > file.size:
                path.unlink()
            while True:
                before = self.has(file)
                try:
                    source.fetch(file, path, lambda path=path: self.progress.tick(path))  # type: ignore[misc]
                    break
                except NetworkTrouble:
                    if self.has(file) <= before:
                        raise
            self.progress.bytes += file.size
            self.progress.files += 1
            self.progress.tick()

    def verify(self, files: list[RemoteFile]) -> dict[str, str]:
        """SHA-256 of each file by name.

        A file that does not match the listing is removed, so that it is fetched again.
        """
        self.progress.begin(VERIFYING)
        digests: dict[str, str] = {}
        for file in files:
            path = self.path_of(file)
            digest = verified_sha256(path, file, lambda count: self.progress.tick(count=count))
            if digest is None:
                path.unlink()
                raise ImportRefused(
                    f"{file.name} does not match its checksum and was deleted. Retry to download it again; if this"
                    " repeats, something on the way to the source changes it."
                )
            digests[file.name] = digest
            self.progress.bytes += file.size
            self.progress.files += 1
        self.progress.write()
        return digests

    def _leave(self) -> None:
        """Remove the files of a cancelled import. Files that another worker uses stay."""
        if is_cancelled(self._row):
            shutil.rmtree(self.part, ignore_errors=True)


def try_again(row: Transfer, error: NetworkTrouble, *, moved: bool) -> None:
    """Schedule another attempt at a transfer. After too many consecutive faults without progress it fails."""
    faults = 0 if moved else row.faults + 1
    if faults >= MAX_FAULTS:
        fail(row, f"{error} It was tried {MAX_FAULTS} times. A retry continues from the data already fetched.")
    else:
        give_back(row, f"{error} It will be retried later.", faults=faults)


def bytes_in(folder: Path) -> int:
    """Total size of the files directly in a folder."""
    return sum(path.stat().st_size for path in folder.iterdir())


def gib(count: int) -> str:
    """A number of bytes in readable form."""
    return f"{count / GIB:.1f} GiB"

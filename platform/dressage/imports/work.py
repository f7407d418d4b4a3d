"""One worker's try at an import: files are fetched behind what lies on the disk, then compared with their checksums.

The worker may be killed anywhere. Then the next one lists the same, goes on, and compares everything in the end.
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
"""Faults of the network in a row, some ten seconds apart, after which an import has failed."""
RESERVE_BYTES = 1 << 30
"""Room on the disk that an import leaves free."""
GIB = 1 << 30


class ImportWork(ABC):
    """One try. Each kind of import says by ``carry_out`` what is done."""

    refusals: tuple[type[Exception], ...] = (ImportRefused,)
    """Errors whose messages tell people why it cannot succeed."""

    def __init__(self, row: Import, part: Path) -> None:
        """
        Args:
            row: the import, as this worker has claimed it.
            part: the folder of its files, which this worker alone has.
        """
        self.part = part
        self.progress = Progress(row)
        self._row = row
        self._began_with = bytes_in(part)

    @abstractmethod
    def carry_out(self) -> None:
        """Do all of it."""

    def run(self) -> None:
        """Carry it out, and leave it done, queued again, or failed with a sentence."""
        try:
            with doing(self._row, *self.refusals):
                self.carry_out()
        except NotOurs:
            self._leave()
        except NetworkTrouble as error:
            try_again(self._row, error, moved=bytes_in(self.part) > self._began_with)

    def path_of(self, file: RemoteFile) -> Path:
        """Place of a file's bytes on the disk."""
        return self.part / file.name

    def has(self, file: RemoteFile) -> int:
        """Bytes of a file that are there."""
        path = self.path_of(file)
        return path.stat().st_size if path.is_file() else 0

    def require_disk(self, files: list[RemoteFile]) -> None:
        """Require that what is missing fits on the disk."""
        missing = sum(file.size - min(self.has(file), file.size) for file in files)
        free = shutil.disk_usage(self.part).free - RESERVE_BYTES
        if missing > free:
            raise ImportRefused(
                f"It needs {gib(missing)} more on the platform's disk, where {gib(max(0, free))} are free for it. "
                "Have the operator make room, then retry."
            )

    def fetch(self, source: Source, files: list[RemoteFile]) -> None:
        """Fetch what is missing. Raises NetworkTrouble once nothing comes any more."""
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
        """SHA-256 of each file by its name. A file that is not what was listed is removed, to be fetched anew."""
        self.progress.begin(VERIFYING)
        digests: dict[str, str] = {}
        for file in files:
            path = self.path_of(file)
            digest = verified_sha256(path, file, lambda count: self.progress.tick(count=count))
            if digest is None:
                path.unlink()
                raise ImportRefused(
                    f"{file.name} came with another content than its checksum says, and was thrown away. Retry "
                    "fetches it again; if that repeats, something between here and the source changes it."
                )
            digests[file.name] = digest
            self.progress.bytes += file.size
            self.progress.files += 1
        self.progress.write()
        return digests

    def _leave(self) -> None:
        """Remove what was fetched of a cancelled import; another worker's stays."""
        if is_cancelled(self._row):
            shutil.rmtree(self.part, ignore_errors=True)


def try_again(row: Transfer, error: NetworkTrouble, *, moved: bool) -> None:
    """Have a transfer tried again in a while; after too many faults in a row, in which nothing moved, it has failed."""
    faults = 0 if moved else row.faults + 1
    if faults >= MAX_FAULTS:
        fail(row, f"{error} It was tried {MAX_FAULTS} times. Retry continues after what is there.")
    else:
        give_back(row, f"{error} It is tried again in a while.", faults=faults)


def bytes_in(folder: Path) -> int:
    """Bytes of the files right in a folder."""
    return sum(path.stat().st_size for path in folder.iterdir())


def gib(count: int) -> str:
    """Bytes for people."""
    return f"{count / GIB:.1f} GiB"

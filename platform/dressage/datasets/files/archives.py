"""Task archives: one row for each folder that contains a Kattis problem or a Harbor task.

Nothing is unpacked to disk. Members are read one folder at a time, each up to a limit.
"""

import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import BinaryIO, Literal

from dressage.common.api.strict_json import check
from dressage.datasets.files.faults import FileFaultError
from dressage.datasets.files.records import LeftOutError, Record, Records
from dressage.datasets.limits import MAX_ARCHIVE_BYTES, MAX_DEPTH, MAX_TASK_BYTES
from trainer_core.datasets.tasks import TASKS, TaskFormat, UnusableTaskError

_MEMBERS = 200_000
_MAX_PATH, _MAX_FOLDERS = 1_000, 64
"""Maximum length of a file's path in characters, and maximum number of folders in it."""
_MAX_DIRECTORY = 32 << 20
"""Maximum size of a ZIP archive's directory, which is read as a whole."""
_MAX_HEADER = 16 << 10
"""Maximum size of an extended header of a TAR archive, which is read as a whole."""
_LONG_NUMBER = re.compile(rb"[0-9]{100}")
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
"""Compression methods of ZIP archives that unpack in small pieces. Others may return gigabytes in one piece."""
_BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, struct.error, EOFError, ValueError, IndexError, KeyError,
    OverflowError, RuntimeError,
)  # fmt: skip
"""Exceptions that the readers raise for broken archives."""
_WANTED = (
    "A folder is a task where it holds `problem.yaml` (Kattis problem format) or `task.toml` (Harbor). Upload a file "
    "of rows as it is, or packed with gzip or Zstandard."
)


class TaskArchive:
    """The folders of an archive that contain tasks."""

    def __init__(self, file: BinaryIO, kind: Literal["zip", "tar"]) -> None:
        """
        Raises:
            FileFaultError: the archive cannot be read, contains no tasks, or contains tasks of two formats.
        """
        self._members = _members(file, kind)
        names = [PurePosixPath(name) for name in self._members]
        found = {task.name: sorted({name.parent for name in names if name.name == task.marker}) for task in TASKS}
        present = [task for task in TASKS if found[task.name]]
        if not present:
            raise FileFaultError(_no_tasks(names, kind))
        if len(present) > 1:
            raise FileFaultError("The archive holds Kattis problems and Harbor tasks. Upload them apart.")
        self.format: TaskFormat = present[0]
        self._folders = found[self.format.name]

    def records(self) -> Records:
        """One row per task, ordered by folder."""
        inside: dict[PurePosixPath, list[str]] = defaultdict(list)
        folders = set(self._folders)
        for name in self._members:
            owner = next((folder for folder in PurePosixPath(name).parents if folder in folders), None)
            if owner is not None:
                inside[owner].append(name)
        for number, folder in enumerate(self._folders, 1):
            try:
                files = self._files(folder, inside[folder])
                row = self.format.row(folder.as_posix(), files)
                check(row, MAX_DEPTH)
                yield Record(number, row)
            except UnusableTaskError as error:
                yield Record(number, LeftOutError(_readable(str(error))))
            except ValueError as error:
                yield Record(number, ValueError(_readable(f"The task {folder.as_posix()}: {error}")))

    def _files(self, folder: PurePosixPath, names: list[str]) -> dict[str, bytes]:
        files, left = {}, MAX_TASK_BYTES
        for name in sorted(names):
            inner = PurePosixPath(name).relative_to(folder).as_posix()
            if not self.format.reads(inner):
                continue
            content = self._members[name](left + 1)
            left -= len(content)
            if left < 0:
                raise ValueError(f"its files have more than {MAX_TASK_BYTES:,} bytes.")
            files[inner] = content
        return files


def _no_tasks(names: list[PurePosixPath], kind: str) -> str:
    if any(name.as_posix().startswith("xl/") for name in names):
        return "This is a spreadsheet. Save it as CSV and upload that."
    shown = ", ".join(f"`{_readable(name.as_posix())[:80]}`" for name in names[:3])
    holds = f"It holds {shown}{' and more' if len(names) > 3 else ''}." if names else "It is empty."
    return f"This is a {kind.upper()} archive without tasks. {holds} {_WANTED}"


def _readable(text: str) -> str:
    """The text with replacement characters for bytes of file names that are not UTF-8."""
    return text.encode(errors="replace").decode()


Read = Callable[[int], bytes]


def _members(file: BinaryIO, kind: Literal["zip", "tar"]) -> dict[str, Read]:
    try:
        found = dict(_zip_members(file) if kind == "zip" else _tar_members(file))
    except FileFaultError:
        raise
    except (*_BROKEN, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # a disk error, not a fault of the content
        told = str(error)[:300].rstrip(".") or "its list of files is broken"
        raise FileFaultError(f"This is a {kind.upper()} archive that cannot be read: {told}.") from error
    return found


class _Bounded:
    """A file that limits how much is read at a time, while a limit is set."""

    def __init__(self, file: BinaryIO, limit: int) -> None:
        self._file = file
        self.limit: int | None = limit
        self.seek, self.tell = file.seek, file.tell

    def read(self, size: int = -1) -> bytes:
        """Read at most ``size`` bytes, or everything for -1. Raises FileFaultError beyond the limit."""
        if self.limit is None:
            return self._file.read(size)
        data = self._file.read(self.limit + 1 if size < 0 else min(size, self.limit + 1))
        if len(data) > self.limit:
            raise FileFaultError(f"The archive holds a header of more than {self.limit:,} bytes.")
        # The library is very slow for long numbers in headers.
        if self.limit == _MAX_HEADER and len(data) > tarfile.BLOCKSIZE and _LONG_NUMBER.search(data):
            raise FileFaultError("The archive holds a header with a number of more than 100 digits.")
        return data

    def seekable(self) -> bool:
        """Whether ``seek`` works."""
        return True


def _zip_members(file: BinaryIO) -> Iterator[tuple[str, Read]]:
    bounded = _Bounded(file, _MAX_DIRECTORY)
    archive = zipfile.ZipFile(bounded)
    bounded.limit = None
    members = archive.infolist()
    _require_bounded(len(members), sum(member.file_size for member in members))
    for member in members:
        if member.flag_bits & 1:
            raise FileFaultError("This is a ZIP archive with a password. Upload it without one.")
        if not member.filename:
            raise FileFaultError("The archive holds a file without a name.")
        if not member.is_dir() and not stat.S_ISLNK(member.external_attr >> 16):
            yield _inner_name(member.filename), _zip_reader(archive, member)


def _zip_reader(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Read:
    def read(size: int) -> bytes:
        if member.compress_type not in _METHODS:
            raise NotImplementedError("it is packed with another method than Deflate")
        with archive.open(member) as opened:
            return opened.read(size)

    return _told(read, member.filename)


def _tar_members(file: BinaryIO) -> Iterator[tuple[str, Read]]:
    bounded = _Bounded(file, _MAX_HEADER)
    archive = tarfile.open(fileobj=bounded, mode="r:")  # type: ignore[call-overload]  # noqa: SIM115 - the file is its caller's
    total = 0
    for count, member in enumerate(archive, 1):
        total += max(0, member.size)
        _require_bounded(count, total)
        if member.isfile():
            yield _inner_name(member.name), _told(_tar_reader(archive, member), member.name)
    # If a header is broken or missing, the library assumes that the archive ends there.
    file.seek(archive.offset)
    if file.read(tarfile.BLOCKSIZE) != tarfile.NUL * tarfile.BLOCKSIZE:
        raise FileFaultError("This is a TAR archive that cannot be read: it has no end. It may be cut off.")
    bounded.limit = None


def _tar_reader(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Read:
    def read(size: int) -> bytes:
        opened = archive.extractfile(member)
        return opened.read(size) if opened else b""

    return read


def _told(read: Read, name: str) -> Read:
    """The same reader, with the name of the file added to errors. Raises ValueError."""

    def told(size: int) -> bytes:
        try:
            return read(size)
        except (*_BROKEN, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # a disk error, not a fault of the content
            raise ValueError(f"its file {name[:200]} cannot be unpacked: {str(error)[:200].rstrip('.')}.") from error

    return told


def _require_bounded(members: int, total: int) -> None:
    if members > _MEMBERS:
        raise FileFaultError(f"The archive holds more than {_MEMBERS:,} files.")
    if total > MAX_ARCHIVE_BYTES:
        raise FileFaultError(f"The archive unpacks to more than {MAX_ARCHIVE_BYTES:,} bytes.")


def _inner_name(name: str) -> str:
    if len(name) > _MAX_PATH or name.count("/") + name.count("\\") > _MAX_FOLDERS:
        raise FileFaultError(
            f"The archive holds a file whose path has more than {_MAX_PATH:,} characters or {_MAX_FOLDERS} folders."
        )
    return PurePosixPath(name.replace("\\", "/").lstrip("/")).as_posix()

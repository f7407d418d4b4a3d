"""Archives of tasks: one row for each folder with a problem of the Kattis format, or with a Harbor task.

Nothing is unpacked to disk: members are read one folder at a time, each up to a limit.
"""

import stat
import tarfile
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import BinaryIO, Literal

from dressage.common.parsers import check
from dressage.datasets.faults import FileFaultError
from dressage.datasets.limits import MAX_ARCHIVE_BYTES, MAX_DEPTH, MAX_TASK_BYTES
from dressage.datasets.records import LeftOutError, Record, Records
from trainer_core.datasets.tasks import TASKS, TaskFormat, UnusableTaskError

_MEMBERS = 200_000
_WANTED = (
    "A folder is a task where it holds `problem.yaml` (Kattis problem format) or `task.toml` (Harbor). Upload a file "
    "of rows as it is, or packed with gzip or Zstandard."
)


class TaskArchive:
    """The folders of an archive that hold tasks."""

    def __init__(self, file: BinaryIO, kind: Literal["zip", "tar"]) -> None:
        """
        Raises:
            FileFaultError: it cannot be read, or holds no tasks, or those of two formats.
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
        """One row for each task, in the order of their folders."""
        inside: dict[PurePosixPath, list[str]] = defaultdict(list)
        folders = set(self._folders)
        for name in self._members:
            owner = next((parent for parent in PurePosixPath(name).parents if parent in folders), None)
            if owner is not None:
                inside[owner].append(name)
        for number, folder in enumerate(self._folders, 1):
            try:
                files = self._files(folder, inside[folder])
                row = self.format.row(folder.as_posix(), files)
                check(row, MAX_DEPTH)
                yield Record(number, row)
            except UnusableTaskError as error:
                yield Record(number, LeftOutError(str(error)))
            except ValueError as error:
                yield Record(number, ValueError(f"The task {folder.as_posix()}: {error}"))

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
    shown = ", ".join(f"`{name.as_posix()[:80]}`" for name in names[:3])
    holds = f"It holds {shown}{' and more' if len(names) > 3 else ''}." if names else "It is empty."
    return f"This is a {kind.upper()} archive without tasks. {holds} {_WANTED}"


Read = Callable[[int], bytes]


def _members(file: BinaryIO, kind: Literal["zip", "tar"]) -> dict[str, Read]:
    try:
        found = dict(_zip_members(file) if kind == "zip" else _tar_members(file))
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        if isinstance(error, FileFaultError):
            raise
        raise FileFaultError(
            f"This is a {kind.upper()} archive that cannot be read: {str(error).rstrip('.')}."
        ) from error
    return found


def _zip_members(file: BinaryIO) -> Iterator[tuple[str, Read]]:
    archive = zipfile.ZipFile(file)
    members = archive.infolist()
    _require_bounded(len(members), sum(member.file_size for member in members))
    for member in members:
        if member.flag_bits & 1:
            raise FileFaultError("This is a ZIP archive with a password. Upload it without one.")
        if not member.is_dir() and not stat.S_ISLNK(member.external_attr >> 16):
            yield _inner_name(member.filename), _zip_reader(archive, member)


def _zip_reader(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Read:
    def read(size: int) -> bytes:
        try:
            with archive.open(member) as opened:
                return opened.read(size)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise ValueError(f"its file {member.filename[:200]} cannot be unpacked: {error}") from error

    return read


def _tar_members(file: BinaryIO) -> Iterator[tuple[str, Read]]:
    archive = tarfile.open(fileobj=file, mode="r:")  # noqa: SIM115 - the file is its caller's
    total = 0
    for count, member in enumerate(archive, 1):
        total += member.size
        _require_bounded(count, total)
        if member.isfile():
            yield _inner_name(member.name), _tar_reader(archive, member)


def _tar_reader(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Read:
    def read(size: int) -> bytes:
        opened = archive.extractfile(member)
        return opened.read(size) if opened else b""

    return read


def _require_bounded(members: int, total: int) -> None:
    if members > _MEMBERS:
        raise FileFaultError(f"The archive holds more than {_MEMBERS:,} files.")
    if total > MAX_ARCHIVE_BYTES:
        raise FileFaultError(f"The archive unpacks to more than {MAX_ARCHIVE_BYTES:,} bytes.")


def _inner_name(name: str) -> str:
    return PurePosixPath("/", name.replace("\\", "/")).relative_to("/").as_posix()

"""Files of a folder on the platform's machine that the operator allows. Links out of it are not followed."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from dressage.imports.remote import ImportRefused, Listing, RemoteFile, Tick

MAX_FILES = 2_000
_PIECE_BYTES = 4 << 20


class FolderSource:
    """A file, or all files below a folder."""

    def __init__(self, location: str) -> None:
        """
        Args:
            location: its path. Raises ImportRefused if it is not in an allowed folder, whether it exists or not.
        """
        self._roots = [Path(root).resolve() for root in settings.DATASET_IMPORT_FOLDERS]
        self._path = Path(os.path.realpath(location)) if location.startswith("/") else None
        if self._path is None or not self._is_inside(self._path):
            raise ImportRefused(
                f"{location[:300]} is in no folder that datasets may be imported from. Whoever runs this installation "
                "may allow it by DATASET_IMPORT_FOLDERS."
            )
        self._location = location

    def listing(self) -> Listing:
        """The regular files, by path relative to the folder."""
        assert self._path is not None
        files: dict[str, RemoteFile] = {}
        if self._path.is_file():
            found: Iterator[tuple[str, Path]] = iter([(self._path.name, self._path)])
        elif self._path.is_dir():
            found = self._below(self._path)
        else:
            raise ImportRefused(f"There is no file or folder {self._location[:300]}. Check the path.")
        for name, path in found:
            try:
                facts = path.stat()
            except OSError:
                continue
            if stat.S_ISREG(facts.st_mode) and os.access(path, os.R_OK):
                files[name] = RemoteFile(name, facts.st_size, None, _mark(facts))
            if len(files) > MAX_FILES:
                raise ImportRefused(f"There are more than {MAX_FILES:,} files: name a folder further below.")
        if not files:
            raise ImportRefused(f"There is no file in {self._location[:300]} that the platform may read.")
        return Listing(dict(sorted(files.items())), "", "")

    def described(self, file: RemoteFile) -> RemoteFile:
        """The file itself, since there is no checksum."""
        return file

    def fetch(self, file: RemoteFile, target: Path, tick: Tick) -> None:
        """Append to ``target`` the part of the file that it lacks. The file must be the same as when it was listed."""
        assert self._path is not None
        path = self._path if self._path.is_file() else self._path / file.name
        try:
            # Do not block on a pipe or follow a link that was put there in the meantime.
            descriptor = os.open(os.path.realpath(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            raise ImportRefused(f"{file.name} cannot be read any more ({error.strerror}).") from error
        with os.fdopen(descriptor, "rb") as source, target.open("ab") as out:
            if not self._is_inside(Path(os.path.realpath(f"/proc/self/fd/{source.fileno()}"))):
                raise ImportRefused(f"{file.name} leads out of the folders that DATASET_IMPORT_FOLDERS allows.")
            if _mark(os.fstat(source.fileno())) != file.tag:
                raise ImportRefused(f"{file.name} was changed since it was listed. Retry takes it as it is now.")
            source.seek(out.tell())
            while chunk := source.read(min(_PIECE_BYTES, file.size - out.tell())):
                out.write(chunk)
                tick()
            if out.tell() != file.size or _mark(os.fstat(source.fileno())) != file.tag:
                raise ImportRefused(f"{file.name} was changed while it was read. Retry takes it as it is now.")

    def _below(self, folder: Path) -> Iterator[tuple[str, Path]]:
        for parent, folders, names in os.walk(folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                path = Path(parent) / name
                if not name.startswith(".") and self._is_inside(Path(os.path.realpath(path))):
                    yield path.relative_to(folder).as_posix(), path

    def _is_inside(self, path: Path) -> bool:
        return any(path.is_relative_to(root) for root in self._roots)


def _mark(facts: os.stat_result) -> str:
    return f"{facts.st_ino}-{facts.st_size}-{facts.st_mtime_ns}"

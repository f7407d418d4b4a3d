"""Files that tests and the program share. Each jail has its own ``/tmp``; changes in one are copied to the other."""

import base64
import os
from collections.abc import Mapping
from importlib.machinery import all_suffixes
from os import stat, walk
from os.path import exists, isdir, islink, join, normpath, realpath  # a test may replace what ``os`` holds
from typing import Any

_PLACE = "/tmp"  # nosec B108
_MOST, _LARGEST = 500, 8 << 20
"""Maximum number of files and folders that are examined, and maximum bytes in one message."""
_OWN = (*all_suffixes(), ".ini", ".cfg", ".toml", ".pth")
"""Name endings of files that are never shared: code of the tests, and settings of their runner."""


class SharedFiles:
    """One side's view of the files."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}
        self._known = self._look()

    def changes(self) -> dict[str, Any] | None:
        """Changes here since the last call; None if there are none."""
        now = self._look()
        changed = {path for path, state in now.items() if self._known.get(path) != state}
        gone = [path for path in self._known if path not in now]
        self._known = now
        if not changed and not gone:
            return None
        room, files, folders = _LARGEST, {}, []
        for path in sorted(changed):
            if isdir(path):
                folders.append(path)
                continue
            with open(path, "rb") as file:
                data = file.read(room + 1)
            room -= len(data)
            if room < 0:
                raise ValueError(f"the files that a test shares with the program hold more than {_LARGEST >> 20} MiB")
            files[path] = base64.b64encode(data).decode()
        return {"files": files, "folders": folders, "gone": gone}

    def apply(self, changes: Mapping[str, Any]) -> None:
        """Apply the other side's changes here."""
        for path in map(_checked, changes["folders"]):
            os.makedirs(path, exist_ok=True)
        for path, data in changes["files"].items():
            with open(_checked(path), "wb") as file:
                file.write(base64.b64decode(data))
        for path in map(_checked, reversed(changes["gone"])):
            if isdir(path):
                os.rmdir(path)
            elif exists(path):
                os.unlink(path)
        self._known = self._look()

    def _look(self) -> dict[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        for folder, folders, names in walk(_PLACE):
            for name in (*folders, *names):
                path = join(folder, name)
                if len(found) >= _MOST:
                    return found
                if islink(path) or path.endswith(_OWN):
                    continue
                state = stat(path)
                found[path] = (0, 0) if isdir(path) else (state.st_mtime_ns, state.st_size)
        return found


def _checked(path: Any) -> str:
    """A path below the shared folder. Raises ValueError for any other path, and for links out of the folder."""
    clean = normpath(str(path))
    if not clean.startswith(f"{_PLACE}/") or clean.endswith(_OWN) or realpath(clean) != clean:
        raise ValueError(f"{clean} is no file that both sides share")
    return clean

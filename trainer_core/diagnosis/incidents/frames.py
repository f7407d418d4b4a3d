"""The exception of a failed run without duplicates, with its frames sorted by the owner of the code."""

import re
from dataclasses import dataclass
from typing import Literal

_FRAME = re.compile(r'^\s*File "(?P<file>[^"\n]{1,500})", line (?P<line>\d{1,9})(?:, in (?P<function>\S{1,200}))?$')
_NODE = re.compile(r"\bpid=(?P<pid>\d{1,9}), ip=(?P<node>[\w.:-]{1,64})")
_CODE = re.compile("\x1b\\[[0-9;]*m")
_OURS = re.compile(r"(?:^|/)(?:worker|trainer_core|kernels|platform/dressage)/")
_LIBRARY = re.compile(r"site-packages/|dist-packages/|lib/python[\d.]+/|^<frozen ")
_MOST = 60
"""Most frames that are read; of longer tracebacks, the last ones."""

Owner = Literal["yours", "platform", "library"]
_ORDER: tuple[Owner, ...] = ("yours", "platform", "library")


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame."""

    file: str
    line: int
    function: str
    code: str
    """The line of code; empty if the traceback lacks it."""
    owner: Owner


@dataclass(frozen=True, slots=True)
class Traceback:
    """An exception."""

    error: str
    """Its last line: type and message."""
    frames: tuple[Frame, ...]
    """Frames of the user's own code first, then the platform's, then libraries'; innermost first in each."""
    node: str | None
    """Address of the node on which it was raised, if the traceback shows it."""
    pid: int | None


def read_traceback(text: str) -> Traceback | None:
    """The exception that a traceback ends with. None if the text is not a traceback. Takes linear time.

    If one exception led to another, or a local exception wraps a remote one, the frames of all are read and each is
    listed once.
    """
    lines = _CODE.sub("", text).splitlines()
    frames: dict[Frame, None] = {}
    for number, line in enumerate(lines):
        match = _FRAME.match(line)
        if match is None:
            continue
        after = lines[number + 1].strip() if number + 1 < len(lines) else ""
        code = "" if after.startswith(('File "', "Traceback ")) else after
        owner = _owner(match["file"])
        frames[Frame(_short(match["file"], owner), int(match["line"]), match["function"] or "", code, owner)] = None
    if not frames:
        return None
    innermost = list(frames)[-_MOST:][::-1]
    node = _NODE.search(text)
    return Traceback(
        error=next((line.strip() for line in reversed(lines) if line and not line[0].isspace()), ""),
        frames=tuple(sorted(innermost, key=lambda frame: _ORDER.index(frame.owner))),
        node=None if node is None else node["node"],
        pid=None if node is None else int(node["pid"]),
    )


def _owner(file: str) -> Owner:
    if _LIBRARY.search(file):
        return "library"
    return "platform" if _OURS.search(file) else "yours"


def _short(file: str, owner: Owner) -> str:
    """The path relative to its source tree."""
    if owner == "yours":
        return file
    found = _LIBRARY.search(file) if owner == "library" else _OURS.search(file)
    return file if found is None else file[found.end() if owner == "library" else found.start() :].lstrip("/")

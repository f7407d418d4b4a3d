"""Tracebacks for people who cannot see this machine: files by their place in project or package."""

from __future__ import annotations

import sysconfig
import traceback
from collections.abc import Iterator
from pathlib import Path

_ROOT = str(Path(__file__).resolve().parents[2])
_HOMES = (*(sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib")), _ROOT)
"""Innermost first: packages may lie below the project, and below the standard library."""


def shown(error: BaseException) -> str:
    """The traceback of ``error``, as Python prints it, without where its files lie on this machine."""
    told = traceback.TracebackException.from_exception(error)
    for link in _chain(told):
        for frame in link.stack:
            frame.filename = _name(frame.filename)
    return "".join(told.format())


def _chain(told: traceback.TracebackException | None) -> Iterator[traceback.TracebackException]:
    """An error and those that it came from."""
    if told is not None:
        yield told
        yield from _chain(told.__cause__)
        yield from _chain(told.__context__)


def _name(file: str) -> str:
    for home in _HOMES:
        if file.startswith(f"{home}/"):
            return file[len(home) + 1 :]
    return file if not file.startswith("/") else Path(file).name

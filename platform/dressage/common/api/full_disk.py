"""Full disks: recognizes them behind the errors of files and of PostgreSQL, and says where room is missing."""

import errno
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import structlog
from django.conf import settings

from dressage.common.api.problems import Problem

logger = structlog.get_logger(__name__)
DISK_FULL = "53100"
"""PostgreSQL's SQLSTATE."""
LEAST_FREE_BYTES = 64 << 20
"""Free space below which writes are expected to fail. What is missing is counted up to it."""
QUIET_S = 60.0
"""Seconds between two log lines about one path."""
_DEPTH = 10
_QUOTED = re.compile(r'"([^"]{1,300})"')
_told: dict[str, float] = {}


def full_disk(error: BaseException) -> Problem | None:
    """507 if a full disk or a spent quota is behind the error; otherwise None. Logs one line a minute and path."""
    for cause in _chain(error):
        if isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT):
            named = cause.filename if isinstance(cause.filename, str) else None
            return _problem(named or str(settings.HOME), Path(named or settings.HOME))
        if getattr(cause, "sqlstate", None) == DISK_FULL:
            quoted = _QUOTED.search(str(cause))
            return _problem(f"PostgreSQL: {quoted.group(1)}" if quoted else "PostgreSQL's data folder", None)
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what it was raised from."""
    found: BaseException | None = error
    for _ in range(_DEPTH):
        if found is None:
            return
        yield found
        found = found.__cause__ or found.__context__


def _problem(path: str, folder: Path | None) -> Problem:
    missing = None if folder is None else _missing_bytes(folder)
    room = (
        "At least one page of 8,192 bytes is missing"
        if missing is None
        else f"{missing:,} {'byte is' if missing == 1 else 'bytes are'} missing"
    )
    _log(path, missing)
    detail = f"Nothing can be written to {path}: its disk or quota is full. {room}. Nothing was stored: free space."
    extra = {"path": path, "missing_bytes": 8192 if missing is None else missing}
    return Problem(507, "No space left", detail, code="disk_full", extra=extra)


def _missing_bytes(path: Path) -> int:
    """Bytes to free until writes are expected to work; at least one, because a quota may be full on an empty disk."""
    there = next((one for one in (path, *path.parents) if one.exists()), Path("/"))
    return max(1, LEAST_FREE_BYTES - shutil.disk_usage(there).free)


def _log(path: str, missing: int | None) -> None:
    now = time.monotonic()
    if now - _told.get(path, -QUIET_S) < QUIET_S:
        return
    if len(_told) >= 1000:
        _told.clear()
    _told[path] = now
    logger.error("disk_full", path=path, missing_bytes=missing)

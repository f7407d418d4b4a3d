"""Processor time of a process and of everything that it has started."""

import os
import resource
from pathlib import Path

TICK = 1 / os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")


def family_seconds() -> float:
    """Processor seconds of this process, of its living descendants, and of the ended ones that were waited for.

    What an ended process had used is counted only once its parent has waited for it. The sum may therefore fall for a
    moment, or lose a process whose parent was killed; differences of two readings are exact for everything else.
    """
    own, ended = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    total = own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime
    waiting = _children(os.getpid())
    while waiting:
        pid = waiting.pop()
        try:
            # Behind the name, which may hold blanks and brackets: fields 14 to 17 of proc(5) are utime, stime, cutime
            # and cstime.
            fields = (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
            waiting += _children(pid)
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended meanwhile
        total += sum(int(field) for field in fields[11:15]) * TICK
    return total


def _children(pid: int) -> list[int]:
    """Processes that any thread of ``pid`` has started and that still exist."""
    found: list[int] = []
    try:
        threads = os.listdir(_PROC / str(pid) / "task")
    except FileNotFoundError:
        return found
    for thread in threads:
        try:
            found += map(int, (_PROC / str(pid) / "task" / thread / "children").read_bytes().split())
        except (FileNotFoundError, ProcessLookupError):
            continue  # the thread ended meanwhile
    return found

"""Memory of a job: the sum over every process in it."""

import os
from collections.abc import Iterable
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
_MIB = 1 << 20
BASE_MB = 12
"""Pages that each process shares with the zygote, in MiB: they are not the job's."""


def resident_mb(processes: Iterable[int]) -> float:
    """MiB resident in ``processes`` and all their descendants, without what they share with the zygote."""
    total, waiting = 0.0, [process for process in processes if process > 0]
    while waiting:
        process = waiting.pop()
        try:
            pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
            for thread in os.listdir(f"/proc/{process}/task"):
                waiting += map(int, Path(f"/proc/{process}/task/{thread}/children").read_text().split())
        except (OSError, IndexError):
            continue  # it has just ended
        total += max(pages * _PAGE / _MIB - BASE_MB, 0.0)
    return total


def process_of(handle: int) -> int:
    """The process id behind a pidfd; −1 when it has ended."""
    for line in Path(f"/proc/self/fdinfo/{handle}").read_text().splitlines():
        if line.startswith("Pid:"):
            return int(line.split()[1])
    return -1

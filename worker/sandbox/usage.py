"""Memory and time of a job, summed over all its processes."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_MIB = 1 << 20
BASE_MB = 12
"""Pages that each process shares with the zygote, in MiB. They do not count as the job's."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Resources used by a job so far."""

    memory_mb: float
    """Resident memory in MiB, without what its processes share with the zygote."""
    cpu_s: float
    """Processor time, including that of ended children."""
    waited_s: float
    """Time in which a part of it was ready to run but had no processor."""


def measure(processes: Iterable[int]) -> Usage:
    """Usage of ``processes`` and all their descendants."""
    memory = ticks = waited = 0.0
    waiting = [process for process in processes if process > 0]
    while waiting:
        process = waiting.pop()
        try:
            pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            for thread in os.listdir(f"/proc/{process}/task"):
                waiting += map(int, Path(f"/proc/{process}/task/{thread}/children").read_text().split())
                waited = max(waited, _waited_s(process, thread))
        except (OSError, IndexError):
            continue  # it has just ended
        memory += max(pages * _PAGE / _MIB - BASE_MB, 0.0)
        ticks += sum(map(int, fields[11:15]))
    return Usage(memory, ticks / _TICKS, waited)


def _waited_s(process: int, thread: str) -> float:
    try:
        return int(Path(f"/proc/{process}/task/{thread}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):  # the kernel does not count it
        return 0.0


def process_of(handle: int) -> int:
    """The process id of a pidfd; −1 if it has ended."""
    for line in Path(f"/proc/self/fdinfo/{handle}").read_text().splitlines():
        if line.startswith("Pid:"):
            return int(line.split()[1])
    return -1

"""Cores of a host, shared by the engines and learner ranks of its runs.

A process that works alone gets all cores; processes that work at the same time get shares by load.

Each process has a line on a board, a small file that all of them map. The line says whether the process is working, and
how much it has worked recently. Each process sets its number of threads from the board between two steps.
"""

from __future__ import annotations

import fcntl
import math
import mmap
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from struct import Struct

HALF_LIFE_S = 30.0
"""Half-life, in seconds, of the work that counts as load."""
LEAST_PARAMETERS = 8_000_000
"""Policy size, in parameters, from which several threads are worth their synchronisation cost."""
LINES = 256
"""Number of processes that fit on a board."""
_LINE = Struct("=q?7xd")
"""Process id, whether the process is working, and its load: recent core-seconds."""
_QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""Processor time that a container may use: microseconds, or ``max``, and the period."""


def board(folder: Path) -> str:
    """Path of the board in the folder of all runs: one per host, since hosts do not share mapped memory."""
    return str(folder / f"cores-{os.uname().nodename}")


def usable_cores() -> int:
    """Number of cores that this process may use: its affinity, limited by the container's quota."""
    cores = len(os.sched_getaffinity(0))
    with suppress(OSError, ValueError):
        most, period = _QUOTA.read_text().split()
        cores = min(cores, max(1, int(most) // int(period)))
    return cores


class CoreShare:
    """Sets the number of threads of one process. Used only by its computing thread."""

    def __init__(
        self,
        path: str,
        set_threads: Callable[[int], None],
        *,
        cores: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        process: int | None = None,
    ) -> None:
        """Take a line of the board that no live process has.

        Args:
            path: the board.
            set_threads: sets the number of threads of the calling thread's computations.
            cores: number of shared cores; by default the cores that this process may use.
            clock: seconds.
            process: process id; by default this one's.
        """
        self._set_threads, self._clock = set_threads, clock
        self._cores = usable_cores() if cores is None else cores
        self._process = os.getpid() if process is None else process
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            size = _LINE.size * LINES
            if os.fstat(descriptor).st_size < size:
                os.ftruncate(descriptor, size)
            self._board = mmap.mmap(descriptor, size)
            self._working, self._load, self._at = False, 0.0, clock()
            self._line = self._free_line()
            self._write()
        finally:
            fcntl.flock(descriptor, fcntl.LOCK_UN)  # the mapping keeps the file open, and with it the lock
            os.close(descriptor)
        self.threads = 1
        self._set_threads(1)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Mark this process as working within a block."""
        self.work()
        try:
            yield
        finally:
            self.rest()

    def work(self) -> None:
        """Mark this process as working, and take its share. Call it between steps, because others come and go."""
        self._count()
        self._working = True
        self._write()
        share = self._share()
        if share != self.threads:
            self._set_threads(share)
            self.threads = share

    def rest(self) -> None:
        """Leave the cores to other processes."""
        if self._working:
            self._count()
            self._working = False
            self._write()

    def _share(self) -> int:
        if self._line is None:
            return 1
        others = [
            load for number, (process, working, load) in self._lines() if working and self._lives(number, process)
        ]
        if not others:
            return self._cores
        if len(others) >= self._cores:
            return 1
        # A process that has not worked yet counts as the average of the others.
        known = [load for load in (self._load, *others) if load > 0]
        usual = sum(known) / len(known) if known else 1.0
        mine = self._load or usual
        share = self._cores * mine / (mine + sum(load or usual for load in others))
        return min(max(1, math.floor(share + 0.5)), self._cores - len(others))

    def _count(self) -> None:
        now = self._clock()
        passed, self._at = now - self._at, now
        self._load *= 0.5 ** (passed / HALF_LIFE_S)
        if self._working:
            self._load += passed * self.threads

    def _lines(self) -> Iterator[tuple[int, tuple[int, bool, float]]]:
        return enumerate(_LINE.iter_unpack(self._board))

    def _lives(self, number: int, process: int) -> bool:
        """Whether another live process has that line."""
        return number != self._line and process > 0 and _is_alive(process)

    def _free_line(self) -> int | None:
        """A free line; None on a full board, which means one thread."""
        taken = {process for _, (process, _, _) in self._lines() if process > 0}
        dead = {process for process in taken if process == self._process or not _is_alive(process)}
        return next((number for number, (process, _, _) in self._lines() if process <= 0 or process in dead), None)

    def _write(self) -> None:
        if self._line is not None:
            _LINE.pack_into(self._board, self._line * _LINE.size, self._process, self._working, self._load)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # another user's
    return True

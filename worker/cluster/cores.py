"""Cores of a host that the engines and learner ranks of one run share: all for whoever works alone, shares by load for
those who work at the same time.

Each process has a line on a board, a small file that all of them map. It says whether the process works, and how much
it has worked lately; everybody sets its own number of threads by what stands there, between two steps.
"""

from __future__ import annotations

import math
import mmap
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from struct import Struct

HALF_LIFE_S = 30.0
"""Seconds in which what a process has worked counts half."""
LEAST_PARAMETERS = 8_000_000
"""Parameters of a policy from which several threads are worth the time in which they wait for one another."""
_LINE = Struct("=?7xd")
"""Whether the process works; its load, in core-seconds of the recent past."""


@dataclass(frozen=True, slots=True)
class CorePlace:
    """A process's place on a board."""

    board: str
    """Path of the file."""
    place: int
    places: int
    """Processes of the run that may share the host."""

    @classmethod
    def on(cls, folder: Path, place: int, places: int) -> CorePlace:
        """The place on the board of a run's folder: one board for each host, since files of several are not shared."""
        return cls(str(folder / f"cores-{os.uname().nodename}"), place, places)


def usable_cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0))


class CoreShare:
    """The number of threads of one process. Used by its computing thread alone."""

    def __init__(
        self,
        place: CorePlace,
        set_threads: Callable[[int], None],
        *,
        cores: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the place, whoever had it before.

        Args:
            place: the place.
            set_threads: sets the number of threads of the calling thread's computations.
            cores: cores that are shared; those that this process may run on.
            clock: seconds.
        """
        self._set_threads, self._clock = set_threads, clock
        self._cores = usable_cores() if cores is None else cores
        self._place, self._places = place.place, place.places
        size = _LINE.size * place.places
        descriptor = os.open(place.board, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if os.fstat(descriptor).st_size < size:
                os.ftruncate(descriptor, size)
            self._board = mmap.mmap(descriptor, size)
        finally:
            os.close(descriptor)
        self._working, self._load, self._at = False, 0.0, clock()
        self.threads = 1
        self._set_threads(1)
        self._write()

    @contextmanager
    def working(self) -> Iterator[None]:
        """Work for the time of a block."""
        self.work()
        try:
            yield
        finally:
            self.rest()

    def work(self) -> None:
        """Tell that this process works, and take its share. To be called again between two steps: others come and
        go."""
        self._count()
        self._working = True
        self._write()
        share = self._share()
        if share != self.threads:
            self._set_threads(share)
            self.threads = share

    def rest(self) -> None:
        """Leave the cores to the others."""
        if self._working:
            self._count()
            self._working = False
            self._write()

    def _share(self) -> int:
        loads = {place: load for place, (working, load) in enumerate(self._lines()) if working}
        others = len(loads) - 1
        if others == 0:
            return self._cores
        if others >= self._cores:
            return 1
        # Who has not worked yet counts as much as the rest on average.
        known = [load for load in loads.values() if load > 0]
        usual = sum(known) / len(known) if known else 1.0
        weights = {place: load or usual for place, load in loads.items()}
        share = self._cores * weights[self._place] / sum(weights.values())
        return min(max(1, math.floor(share + 0.5)), self._cores - others)

    def _count(self) -> None:
        now = self._clock()
        passed, self._at = now - self._at, now
        self._load *= 0.5 ** (passed / HALF_LIFE_S)
        if self._working:
            self._load += passed * self.threads

    def _lines(self) -> list[tuple[bool, float]]:
        return [_LINE.unpack_from(self._board, place * _LINE.size) for place in range(self._places)]

    def _write(self) -> None:
        _LINE.pack_into(self._board, self._place * _LINE.size, self._working, self._load)

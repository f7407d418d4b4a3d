"""Several jails for the samples of one worker: each runs one job at a time, and samples wait for a free one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from queue import LifoQueue
from typing import Any, TypeVar

from trainer_core.rewards.graders.jail import JailError, Language, Limits, Outcome, Verdict
from worker.judge.clock import outside
from worker.sandbox.pool import JailPool

SPARE_S = 0.05
"""A program is stopped so long after its sample's time: the sample is then an error, and no failed program."""
T = TypeVar("T")


class Jails:
    """Implements ``trainer_core.rewards.graders.jail.Jail``. Thread-safe. Waiting for a free jail costs a sample no
    time."""

    def __init__(self, size: int, packages: bool) -> None:
        """``packages``: what is scored needs the installed packages, which are then loaded at the start."""
        self._packages = packages
        self._pools = [JailPool() for _ in range(size)]
        self._free: LifoQueue[JailPool] = LifoQueue()
        self._starting = threading.Lock()
        self._closed = False

    def start(self) -> None:
        """Start one jail now and the others in the background. Raises JailError."""
        self._pools[0].start(self._packages)
        self._free.put(self._pools[0])
        threading.Thread(target=self._start_others, name="jails", daemon=True).start()

    def program(self, code: str, stdin: str, language: Language, limits: Limits) -> Outcome:
        return self._use(lambda jail, bounded: jail.program(code, stdin, language, bounded), limits)

    def assertions(
        self, code: str, setup: str, tests: Sequence[str], entry_point: str, limits: Limits
    ) -> list[Verdict]:
        return self._use(lambda jail, bounded: jail.assertions(code, setup, tests, entry_point, bounded), limits)

    def grade(self, code: str, sample: Mapping[str, Any], item: Mapping[str, Any], limits: Limits) -> Outcome:
        return self._use(lambda jail, bounded: jail.grade(code, sample, item, bounded), limits)

    def plugin(self, job: Mapping[str, Any], packages: bool, limits: Limits) -> Outcome:
        return self._use(lambda jail, bounded: jail.plugin(job, packages, bounded), limits)

    def equal(self, gold: str, answer: str, limits: Limits) -> Outcome:
        return self._use(lambda jail, bounded: jail.equal(gold, answer, bounded), limits)

    def close(self) -> None:
        """End the jails."""
        self._closed = True
        with self._starting:
            for pool in self._pools:
                pool.close()

    def _use(self, work: Callable[[JailPool, Limits], T], limits: Limits) -> T:
        with outside() as clock:
            pool = self._free.get()
            try:
                pool.start(self._packages)  # a jail that has died comes up again: that costs no sample its time
                clock.begin()
                try:
                    return work(pool, replace(limits, wall_s=min(limits.wall_s, max(clock.left_s, 0.0) + SPARE_S)))
                finally:
                    clock.end()
            finally:
                self._free.put(pool)

    def _start_others(self) -> None:
        for pool in self._pools[1:]:
            with self._starting:
                if self._closed:
                    return
                try:
                    pool.start(self._packages)
                except JailError:
                    return  # the first one serves all; a jail that cannot start at all was refused with it
            self._free.put(pool)

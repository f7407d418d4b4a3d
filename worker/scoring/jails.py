"""A pool of jails for the samples of one worker. Each runs one job at a time; samples wait for a free one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from queue import LifoQueue
from typing import Any, TypeVar

from trainer_core.rewards.graders.jail import JailError, Limits, Outcome, Program, Verdict
from worker.judge.clock import outside
from worker.sandbox.pool import JailPool

SPARE_S = 0.05
"""A program is stopped this long after its sample's time is up, so it counts as an error, not as a failed program."""
T = TypeVar("T")


class Jails:
    """Implements ``trainer_core.rewards.graders.jail.Jail``. Thread-safe. Waiting for a free jail does not count
    against a sample's time."""

    def __init__(self, size: int, packages: bool) -> None:
        """``packages``: the samples need the installed packages, which are then loaded at the start."""
        self._packages = packages
        self._pools = [JailPool() for _ in range(size)]
        self._free: LifoQueue[JailPool] = LifoQueue()
        self._starting = threading.Lock()
        self._taking = threading.Lock()
        self._taken = (0, 0)
        self._closed = False

    def start(self) -> None:
        """Start one jail now and the others in the background. Raises JailError."""
        self._pools[0].start(self._packages)
        self._free.put(self._pools[0])
        threading.Thread(target=self._start_others, name="jails", daemon=True).start()

    def build(self, code: str, language: str, limits: Limits) -> Program:
        return self._use_untimed(lambda jail: jail.build(code, language, limits))

    def run(self, program: Program, stdin: str, arguments: Sequence[str], limits: Limits) -> Outcome:
        return self._use_untimed(lambda jail: jail.run(program, stdin, arguments, limits))

    def assertions(
        self,
        code: str,
        setup: str,
        tests: Sequence[str],
        entry_point: str,
        limits: Limits,
        frameworks: Sequence[str] = (),
    ) -> list[Verdict]:
        return self._use_untimed(lambda jail: jail.assertions(code, setup, tests, entry_point, limits, frameworks))

    def check(self, source: str, given: str, output: str, wanted: str | None, limits: Limits) -> Outcome:
        return self._use(lambda jail, bounded: jail.check(source, given, output, wanted, bounded), limits)

    def grade(self, code: str, sample: Mapping[str, Any], item: Mapping[str, Any], limits: Limits) -> Outcome:
        return self._use(lambda jail, bounded: jail.grade(code, sample, item, bounded), limits)

    def respond(
        self, code: str, item: Mapping[str, Any], messages: Sequence[Mapping[str, str]], limits: Limits
    ) -> Outcome:
        return self._use_untimed(lambda jail: jail.respond(code, item, messages, limits))

    def plugin(self, job: Mapping[str, Any], packages: bool, limits: Limits) -> Outcome:
        return self._use(lambda jail, bounded: jail.plugin(job, packages, bounded), limits)

    def equal(self, comparison: Mapping[str, Any], limits: Limits) -> Outcome:
        return self._use(lambda jail, bounded: jail.equal(comparison, bounded), limits)

    def take_paths(self) -> tuple[int, int]:
        """Numbers of test modules decided without pytest and by pytest since the last call."""
        fast = sum(pool.paths.fast for pool in self._pools)
        slow = sum(pool.paths.slow for pool in self._pools)
        with self._taking:
            found = fast - self._taken[0], slow - self._taken[1]
            self._taken = fast, slow
        return found

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
                pool.start(self._packages)  # restarts a dead jail; this does not count as a sample's time
                clock.begin()
                try:
                    return work(pool, replace(limits, wall_s=min(limits.wall_s, max(clock.left_s, 0.0) + SPARE_S)))
                finally:
                    clock.end()
            finally:
                self._free.put(pool)

    def _use_untimed(self, work: Callable[[JailPool], T]) -> T:
        """A policy's programs have their own limits on processor time. The sample's clock stops for them, so that an
        endless program scores zero and is not a lost reward."""
        with outside():
            pool = self._free.get()
            try:
                pool.start(self._packages)
                return work(pool)
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
                    return  # the first jail serves all; if no jail could start, that one would have failed
            self._free.put(pool)

"""Ends samples that take too long: one thread watches the clocks of all samples in progress."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import TypeVar

from worker.judge.clock import Clock, TimedOut, current

LOOK_S = 0.02
"""Time between two checks. A sample may exceed its time by this much."""
T = TypeVar("T")


class Watchdog:
    """A time limit on scoring. Thread-safe. Interrupts Python between two instructions; tools are cancelled instead."""

    def __init__(self) -> None:
        self._clocks: dict[Clock, Callable[[], object] | None] = {}
        self._some = threading.Event()
        self._closed = False
        threading.Thread(target=self._look, name="watch", daemon=True).start()

    def limit(self, limit_s: float, work: Callable[[], T], expired: Callable[[], object] | None = None) -> T:
        """Result of ``work()``, with a time limit.

        Args:
            limit_s: the limit, in seconds.
            work: runs in this thread.
            expired: called from another thread as soon as time is up, even if ``work`` cannot be interrupted.

        Raises:
            TimedOut: time was up.
        """
        clock = Clock(limit_s)
        token = current.set(clock)
        self._clocks[clock] = expired
        self._some.set()
        try:
            try:
                result = work()
            finally:
                late = self._release(clock)
        except TimedOut:
            # The interrupt may have struck while the clock was being released. It strikes only once.
            self._release(clock)
            raise
        finally:
            current.reset(token)
        if late:
            raise TimedOut
        return result

    def close(self) -> None:
        """End the thread. Samples still in progress no longer have a limit."""
        self._closed = True
        self._some.set()

    def _release(self, clock: Clock) -> bool:
        self._clocks.pop(clock, None)
        late = clock.close()
        if late:
            _interrupt(threading.get_ident(), None)  # it may still be on its way
        return late

    def _look(self) -> None:
        pause = threading.Event()
        while True:
            self._some.wait()
            if self._closed:
                return
            for clock, expired in list(self._clocks.items()):
                if not clock.expired and clock.check(_interrupt) and expired is not None:
                    expired()
            if not self._clocks:
                self._some.clear()
                if self._clocks:  # one was added in between
                    self._some.set()
            pause.wait(LOOK_S)


def _interrupt(thread: int, error: type[BaseException] | None = TimedOut) -> None:
    """Raise ``error`` in another thread, or cancel an error that has not been raised yet."""
    value = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), value)

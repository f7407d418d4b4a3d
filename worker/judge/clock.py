"""Time limit for grading one sample. Time spent queueing for a judge or a jail does not count."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class TimedOut(BaseException):
    """The sample's time is up. Not an ``Exception``, so that a grader that catches everything does not swallow it."""


class Clock:
    """Runs while work is done for the sample, by its own thread or on its behalf. Thread-safe."""

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s
        self._lock = threading.Lock()
        self._busy, self._spent = 1, 0.0
        self._since = time.monotonic()
        self._expired = False
        self._computing: int | None = threading.get_ident()
        """The thread that may be interrupted; None while it uses a tool."""
        self._cancel: Callable[[], object] | None = None

    @property
    def expired(self) -> bool:
        return self._expired

    @property
    def left_s(self) -> float:
        """Remaining time; negative once it is up."""
        with self._lock:
            return self.limit_s - self._elapsed()

    def begin(self) -> None:
        """Record that work for the sample has begun."""
        with self._lock:
            if self._busy == 0:
                self._since = time.monotonic()
            self._busy += 1

    def end(self) -> None:
        """Record that it has ended."""
        with self._lock:
            self._busy -= 1
            if self._busy == 0:
                self._spent += time.monotonic() - self._since

    @contextmanager
    def outside(self) -> Iterator[None]:
        """Let the sample's thread use a tool without interrupts. Only time between ``begin`` and ``end`` counts.

        Raises:
            TimedOut: on exit, if time ran out inside.
        """
        with self._lock:
            thread, self._computing = self._computing, None
        self.end()
        try:
            yield
        finally:
            self.begin()
            with self._lock:
                self._computing, self._cancel = thread, None
                expired = self._expired
            if expired:
                raise TimedOut

    def on_expiry(self, cancel: Callable[[], object]) -> None:
        """Call ``cancel`` if time runs out before the tool is left; immediately if it is already up."""
        with self._lock:
            self._cancel = cancel
            expired = self._expired
        if expired:
            cancel()

    def check(self, interrupt: Callable[[int], object]) -> bool:
        """Whether time is up. The first time it is, the current work is cancelled or ``interrupt``ed."""
        with self._lock:
            if self._expired or self._elapsed() < self.limit_s:
                return self._expired
            self._expired = True
            cancel = self._cancel
            if self._computing is not None:
                interrupt(self._computing)
        if cancel is not None:
            cancel()
        return True

    def close(self) -> bool:
        """Stop the clock: nothing is interrupted from now on. Returns whether time was already up."""
        with self._lock:
            self._computing, expired = None, self._expired
            self._expired = True
            return expired

    def _elapsed(self) -> float:
        return self._spent + (time.monotonic() - self._since if self._busy else 0.0)


current: ContextVar[Clock | None] = ContextVar("clock", default=None)
"""The clock of the sample that this thread grades."""


@contextmanager
def outside() -> Iterator[Clock]:
    """``Clock.outside`` of the current sample, or a clock without a limit."""
    clock = current.get()
    if clock is None:
        yield Clock(float("inf"))
        return
    with clock.outside():
        yield clock

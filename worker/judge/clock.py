"""The time that one sample's grading may take. Waiting for one's turn at a judge or a jail does not count."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class TimedOut(BaseException):
    """The sample's time is up. No ``Exception``: a grader that catches everything must not swallow it."""


class Clock:
    """Runs while something is done for the sample, by its own thread or on its behalf. Thread-safe."""

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
        """Time that is left; negative once it is up."""
        with self._lock:
            return self.limit_s - self._elapsed()

    def begin(self) -> None:
        """Note that something is under way for the sample."""
        with self._lock:
            if self._busy == 0:
                self._since = time.monotonic()
            self._busy += 1

    def end(self) -> None:
        """Note that it has ended."""
        with self._lock:
            self._busy -= 1
            if self._busy == 0:
                self._spent += time.monotonic() - self._since

    @contextmanager
    def outside(self) -> Iterator[None]:
        """The sample's thread uses a tool: it is not interrupted, and what counts is what ``begin`` and ``end`` frame.

        Raises:
            TimedOut: on the way out, where time was up meanwhile.
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
        """Call ``cancel`` when time is up before the tool is left; at once if it is up already."""
        with self._lock:
            self._cancel = cancel
            expired = self._expired
        if expired:
            cancel()

    def check(self, interrupt: Callable[[int], object]) -> bool:
        """Whether time is up. The first time it is, whatever is under way is cancelled or ``interrupt``ed."""
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
        """The sample is scored: nothing is interrupted from here on. Whether time was up before."""
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
    """``Clock.outside`` of the present sample, or a clock that never ends."""
    clock = current.get()
    if clock is None:
        yield Clock(float("inf"))
        return
    with clock.outside():
        yield clock

"""Several grading processes, shared by callers in turn: fair between the keys (teams) that they ask for."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager

from trainer_core.rewards.isolated.process import GradingProcess, TemplateProcess


class NoPlace(Exception):
    """Nobody can be let in now."""

    def __init__(self, message: str, retry_after_s: int, own: bool) -> None:
        """
        Args:
            message: why.
            retry_after_s: when to try again.
            own: the key itself has too many waiting; else all places and the queue are taken.
        """
        super().__init__(message)
        self.retry_after_s, self.own = retry_after_s, own


class Places:
    """A bounded number of grading processes. Thread-safe. A process is started when it is first needed.

    Keys that wait take turns, each gets one place a turn, and none holds more than ``most_per_key`` at once.
    """

    def __init__(
        self,
        size: int,
        *,
        most_per_key: int | None = None,
        most_waiting: int | None = None,
        most_waiting_per_key: int | None = None,
        template: TemplateProcess | None = None,
    ) -> None:
        """None: no bound of its own."""
        self.template = template or TemplateProcess()
        self._size = size
        self._most_per_key = most_per_key or size
        self._most_waiting, self._most_waiting_per_key = most_waiting, most_waiting_per_key
        self._free = [GradingProcess(self.template) for _ in range(size)]
        self._all = list(self._free)
        self._held: Counter[str] = Counter()
        self._waiting: dict[str, deque[_Turn]] = {}
        """Those who wait, by key, in the order in which the keys are served next."""
        self._lock = threading.Lock()
        self._mean_s = 0.1
        """Usual time for which a place is held."""

    @contextmanager
    def place(self, key: str = "", wait_s: float | None = None) -> Iterator[GradingProcess]:
        """A process, for as long as the block lasts.

        Raises:
            NoPlace: too many wait, or one's turn did not come within ``wait_s``.
        """
        process = self._enter(key, wait_s)
        started = time.monotonic()
        try:
            yield process
        finally:
            self._leave(key, process, time.monotonic() - started)

    def close(self) -> None:
        """End all processes."""
        for process in self._all:
            process.close()
        self.template.close()

    def _enter(self, key: str, wait_s: float | None) -> GradingProcess:
        turn = _Turn()
        with self._lock:
            line = self._waiting.setdefault(key, deque())
            line.append(turn)
            self._serve()
            if turn.process is None:
                try:
                    self._refuse_too_many(line)
                except NoPlace:
                    self._withdraw(key, turn)
                    raise
        if turn.came.wait(wait_s):
            assert turn.process is not None
            return turn.process
        with self._lock:
            if turn.process is not None:  # it came just now
                return turn.process
            self._withdraw(key, turn)
            raise NoPlace(f"no place became free within {wait_s:g} s", self._retry_after_s(), own=False)

    def _refuse_too_many(self, line: deque[_Turn]) -> None:
        if self._most_waiting_per_key is not None and len(line) > self._most_waiting_per_key:
            raise NoPlace(f"{len(line) - 1} of yours wait already", self._retry_after_s(), own=True)
        waiting = sum(map(len, self._waiting.values()))
        if self._most_waiting is not None and waiting > self._most_waiting:
            raise NoPlace(f"{waiting - 1} wait already", self._retry_after_s(), own=False)

    def _leave(self, key: str, process: GradingProcess, held_s: float) -> None:
        with self._lock:
            self._mean_s += 0.2 * (held_s - self._mean_s)
            self._free.append(process)
            self._held[key] -= 1
            if not self._held[key]:
                del self._held[key]
            self._serve()

    def _serve(self) -> None:
        """Give free places to those who are next. The key that got one goes to the end."""
        while self._free:
            key = next((key for key in self._waiting if self._held[key] < self._most_per_key), None)
            if key is None:
                return
            line = self._waiting.pop(key)
            turn = line.popleft()
            if line:
                self._waiting[key] = line
            self._held[key] += 1
            turn.process = self._free.pop()
            turn.came.set()

    def _withdraw(self, key: str, turn: _Turn) -> None:
        line = self._waiting[key]
        line.remove(turn)
        if not line:
            del self._waiting[key]

    def _retry_after_s(self) -> int:
        waiting = sum(map(len, self._waiting.values()))
        return max(1, math.ceil(self._mean_s * waiting / self._size))


class _Turn:
    """Someone who waits."""

    def __init__(self) -> None:
        self.came = threading.Event()
        self.process: GradingProcess | None = None

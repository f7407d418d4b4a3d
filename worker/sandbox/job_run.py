"""A running job on the supervisor's side: feeds it, collects its output, and kills it at its limits."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Sequence

from trainer_core.rewards.graders.jail import BusyError, End, JailError, Limits, Outcome
from worker.sandbox import usage
from worker.sandbox.guest import READY
from worker.sandbox.zygote import STATUS

_WATCH_S = 0.02
_SETUP_S = 20.0
"""Time for the restrictions to take hold. The program's own time begins after it."""
_PART = 1 << 16
_PATIENCE, _PATIENCE_S = 10, 60.0
"""A program that waits for a processor is given up after this multiple of its allowed time, plus these seconds."""
_LEFT_OUT = 64
"""Multiple of the output limit that may be written if excess output is only left out."""
_NAMES = ("output", "errors", "result")


class JobRun:
    """One job, from its start to its outcome."""

    def __init__(
        self,
        link: socket.socket,
        handles: Sequence[int],
        descriptors: Sequence[int],
        data: bytes,
        limits: Limits,
        abandon: Callable[[], None],
    ) -> None:
        """``handles``: pidfds of the job's process 1 and of its program.

        ``descriptors``: one to write the job to, then those to read its output, errors and result from.
        """
        self._link, self._limits, self._abandon = link, limits, abandon
        self.handle, self._program = handles
        self._sink, self._sources = descriptors[0], dict(zip(descriptors[1:], _NAMES, strict=True))
        self._data = memoryview(data)
        self._written = {name: bytearray() for name in _NAMES}
        self.ready = False
        """The jail's restrictions hold, and the program has been started."""
        self._started = time.monotonic()
        self._watched = self._started
        self._processes: list[int] = []
        self._seen = dict.fromkeys(_NAMES, 0)
        self.waited_s = 0.0
        """Time in which it was ready to run but had no processor."""
        self._starved = False
        self.end: End | None = None
        os.set_blocking(self._sink, False)
        for source in self._sources:
            os.set_blocking(source, False)

    def register(self, poll: select.poll) -> list[int]:
        """Watch this job's descriptors. Returns them."""
        watched = [self.handle, *self._sources]
        for descriptor in watched:
            poll.register(descriptor, select.POLLIN)
        if self._sink >= 0:
            poll.register(self._sink, select.POLLOUT)
            watched.append(self._sink)
        return watched

    def handle_event(self, descriptor: int, poll: select.poll) -> None:
        """Handle an event on one of the descriptors."""
        if descriptor == self.handle:
            self.end = self.end or "exit"
        elif descriptor == self._sink:
            self._feed(poll)
        elif descriptor in self._sources:
            if not self._read(descriptor):
                poll.unregister(descriptor)
            self.ready = self.ready or self._written["result"].startswith(READY)

    def check(self, now: float, waited_s: float) -> None:
        """Enforce the job's time and memory limits. ``waited_s``: sum over this job and the jobs that it talks to."""
        taken, allowed = now - self._started, self._allowed_s()
        if now - self._watched >= _WATCH_S or taken >= allowed:
            used = self._measure()
            if used.memory_mb > self._limits.memory_mb:
                self.end = self.end or "memory"
            elif self._limits.cpu_s is not None and used.cpu_s >= self._limits.cpu_s:
                self.end = self.end or "cpu"
            elif used.cpu_s >= self._limits.wall_s:  # its processes only wait for one another
                self.end = self.end or "wall"
            more_s = max(used.waited_s - self.waited_s, 0.0)  # processes that have ended are no longer counted
            waited_s, self.waited_s = waited_s + more_s, self.waited_s + more_s
            self._watched = time.monotonic()
        if taken - waited_s >= allowed and not self._has_ended():
            self.end = self.end or "wall"
        elif taken >= _PATIENCE * allowed + _PATIENCE_S:
            self._starved, self.end = self.end is None, self.end or "wall"

    def wait_s(self, now: float) -> float:
        """Seconds until ``check`` is due."""
        return max(self._watched + _WATCH_S - now, 0.0)

    def _has_ended(self) -> bool:
        """Whether the program has ended but its zygote has not yet reported it."""
        poll = select.poll()
        poll.register(self._program, select.POLLIN)
        return bool(poll.poll(0))

    def _measure(self) -> usage.Usage:
        self._processes = self._processes or [usage.process_of(self.handle), usage.process_of(self._program)]
        return usage.measure(self._processes)

    def restart_clock(self, now: float) -> None:
        """Start the program's allowed time now."""
        self._started = now

    def _allowed_s(self) -> float:
        return self._limits.wall_s if self.ready else _SETUP_S

    def finish(self) -> Outcome:
        """Kill what still runs and return the outcome.

        Raises:
            JailError: the jail failed, not the program.
        """
        try:
            if self.end != "exit":
                self._kill()
            self._link.settimeout(10.0)
            status, user_s, system_s, _ = STATUS.unpack(self._link.recv(STATUS.size))
            for source in self._sources:
                self._drain(source)
        except BaseException as error:
            self._abandon()
            if isinstance(error, OSError | ValueError) or type(error).__module__ == "struct":
                raise JailError(f"the jail failed: {error}") from error
            raise
        finally:
            self._close()
        code = os.waitstatus_to_exitcode(status)
        result = bytes(self._written["result"])
        # Without an end it was killed because the other job was done, which need not wait until this jail is built.
        if self.end is not None and not result.startswith(READY):
            raise JailError(f"the jail cannot be built: {result.decode(errors='replace') or self.end}")
        if self._starved:
            raise BusyError(
                f"this machine is too busy to grade: a program waited {self.waited_s:.0f} s for a processor"
            )
        return Outcome(
            end=self.end or "exit",
            status=128 - code if code < 0 else code,
            output=bytes(self._written["output"]),
            errors=bytes(self._written["errors"]),
            result=result[len(READY) :],
            seconds=time.monotonic() - self._started,
            cpu_s=user_s + system_s,
        )

    def abandon(self) -> None:
        """Abandon the job without an outcome: its zygote ends, and everything that runs in it."""
        self._close()
        self._abandon()

    def _feed(self, poll: select.poll) -> None:
        try:
            self._data = self._data[os.write(self._sink, self._data[:_PART]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._data = self._data[:0]
        if not self._data:
            poll.unregister(self._sink)
            os.close(self._sink)
            self._sink = -1

    def _read(self, source: int) -> bool:
        """Read once. False at the end of the stream."""
        try:
            part = os.read(source, _PART)
        except BlockingIOError:
            return True
        name = self._sources[source]
        written, most = self._written[name], self._limits.output_bytes
        written += part[: max(most - len(written), 0)]
        self._seen[name] += len(part)
        if name == "errors" or (name == "output" and not self._limits.output_ends):
            most *= _LEFT_OUT
        if self._seen[name] > most:
            self.end = self.end or "output"
        return bool(part)

    def _drain(self, source: int) -> None:
        written = self._written[self._sources[source]]
        while len(written) < self._limits.output_bytes:
            try:
                part = os.read(source, _PART)
            except BlockingIOError:
                return
            if not part:
                return
            written += part[: self._limits.output_bytes - len(written)]

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):  # it may have ended already
            signal.pidfd_send_signal(self.handle, signal.SIGKILL)

    def _close(self) -> None:
        for descriptor in [self._sink, self.handle, self._program, *self._sources]:
            if descriptor >= 0:
                os.close(descriptor)
        self._sink = self.handle = self._program = -1
        self._sources = {}


def supervise(runs: Sequence[JobRun]) -> list[Outcome]:
    """Drive runs until the first in the list has ended, then kill the others. Returns the outcomes in order."""
    try:
        poll = select.poll()
        owners = {descriptor: run for run in runs for descriptor in run.register(poll)}
        first = runs[0]
        while first.end is None:
            now = time.monotonic()
            waiting = sum(not run.ready for run in runs)
            for descriptor, _ in poll.poll(min(run.wait_s(now) for run in runs) * 1000):
                owners[descriptor].handle_event(descriptor, poll)
            now = time.monotonic()
            if sum(not run.ready for run in runs) < waiting:
                for run in runs:  # two jails that talk to each other: waiting for the other's setup does not count
                    run.restart_clock(now)
            for run in runs:
                if run.end is None:
                    run.check(now, sum(one.waited_s for one in runs))
                elif run is not first:
                    _retire(run, owners, poll)
        return [run.finish() for run in runs]
    except BaseException:
        for run in runs:
            run.abandon()
        raise


def _retire(run: JobRun, owners: dict[int, JobRun], poll: select.poll) -> None:
    """A job other than the first has ended or reached a limit: stop reading from it, and kill it immediately."""
    for descriptor in [descriptor for descriptor, owner in owners.items() if owner is run]:
        del owners[descriptor]
        with contextlib.suppress(KeyError):  # its stream may have ended already
            poll.unregister(descriptor)
    if run.end != "exit":
        run._kill()

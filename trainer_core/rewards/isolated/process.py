"""A grading process as its owner sees it."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import pickle  # nosec B403
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trainer_core.rewards.errors import GraderBug, GraderError, GraderStopped, JobTooHeavy
from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.isolated import wire
from trainer_core.rewards.reasons import tell
from trainer_core.rewards.sample import Sample
from trainer_core.spec.untrusted import Check

if TYPE_CHECKING:
    from trainer_core.rewards.isolated.child import CheckRequest, GradeRequest

START_S = 120.0
"""Longest time that the template may take to load the graders, and a child what one of them needs: a second, and much
more on a machine that is busy."""
LOAD_S = 60.0
"""Processor time that a grader may take to load what it needs."""
MEMORY_MB = 512
_MODULE = "trainer_core.rewards.isolated.template"
_ANSWER_S = 30.0
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
OUT_OF_MEMORY = 3
"""Status with which a child ends for which a job was too big to be read."""
FORKED, REFUSED = b"forked", b"refused: "
"""Answers of the template: the first comes with the child's handle, the second says why there is no child."""
MESSAGE_BYTES = 256
"""Longest message between owner and template."""


@dataclass(frozen=True, slots=True)
class GradeLimits:
    """Limits of one grade."""

    cpu_s: float = 2.0
    """Processor time: says the same whatever else the machine does."""
    wall_s: float = 30.0
    """Time by the clock, for what waits instead of computing. Generous: on a busy machine the clock runs ahead."""


class TemplateProcess:
    """Parent of grading processes: it has loaded the graders, and forks. Thread-safe. Starts when it is needed."""

    def __init__(self, memory_mb: int = MEMORY_MB, nice: int = 0) -> None:
        """
        Args:
            memory_mb: data of each child; code and files that it maps do not count.
            nice: by how much the children stand back where processors are short. Their limits count processor time.
        """
        self.memory_mb, self._nice = memory_mb, nice
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def start(self) -> None:
        """Start it, if it does not run.

        Raises:
            GraderStopped: it cannot start.
        """
        with self._lock:
            try:
                self._start()
            except OSError as error:
                raise _no_process(error) from error

    def fork(self) -> tuple[socket.socket, int, int]:
        """A new child: its channel, a handle of the process, and a pipe that tells how it ended.

        Raises:
            GraderStopped: there can be none.
        """
        with self._lock:
            try:
                self._start()
                return self._fork()
            except OSError:
                self._end()  # it has died: a fresh one is tried once
            try:
                self._start()
                return self._fork()
            except OSError as error:
                self._end()
                raise _no_process(error) from error

    def close(self) -> None:
        """End it, and with it its children."""
        with self._lock:
            self._end()

    def _start(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self._end()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", _MODULE, str(theirs.fileno()), str(self.memory_mb << 20), str(self._nice)],
                pass_fds=[theirs.fileno()],
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # an interrupt from the keyboard is for the owner
            )
        self._control = ours
        ours.settimeout(START_S)
        try:
            ready = ours.recv(MESSAGE_BYTES)
        except OSError as error:
            self._end()
            raise GraderStopped(f"the graders could not be loaded within {START_S:g} s: {error}") from error
        if ready != b"ready":
            self._end()
            raise GraderStopped("the process that loads the graders ended; its error is in the log of this process")
        ours.settimeout(_ANSWER_S)

    def _fork(self) -> tuple[socket.socket, int, int]:
        """Raises OSError where the template has died, and GraderStopped where it goes on but there is no child."""
        assert self._control is not None
        ours, theirs, told, tells = _channels()
        try:
            socket.send_fds(self._control, [b"fork"], [theirs.fileno(), tells])
            message, handles, _, _ = socket.recv_fds(self._control, MESSAGE_BYTES, 1)
            if not message:
                raise ConnectionError("the process that forks the others has ended")
            if message.startswith(REFUSED):
                raise _no_process(message.removeprefix(REFUSED).decode())
            if not handles:  # the kernel has left it out; the child ends with its channel
                raise _no_process(os.strerror(errno.EMFILE))
        except BaseException:
            ours.close()
            os.close(told)
            raise
        finally:
            theirs.close()
            os.close(tells)
        return ours, handles[0], told

    def _end(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def _channels() -> tuple[socket.socket, socket.socket, int, int]:
    """Both ends of a child's channel, and of the pipe that tells how it ended. Raises GraderStopped."""
    try:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            told, tells = os.pipe()
        except OSError:
            ours.close()
            theirs.close()
            raise
    except OSError as error:
        raise _no_process(error) from error
    return ours, theirs, told, tells


def _no_process(reason: object) -> GraderStopped:
    return GraderStopped(f"no process can be had to grade in: {reason}")


def _environment() -> dict[str, str]:
    """The part of the owner's environment that graders may know, without secrets.

    One thread each: a process with more cannot be forked safely, and would spend its processor time several times over.
    """
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    path = os.pathsep.join(filter(None, sys.path))
    return {**kept, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


class GradingProcess:
    """Grades, one thing at a time. Not thread-safe. After its child was ended the next grade gets a fresh one."""

    def __init__(self, template: TemplateProcess) -> None:
        self._template = template
        self._channel: socket.socket | None = None
        self._handle = self._told = -1
        self._loaded = False
        """Whether the present grade has begun: before that the grader loads what it needs."""
        self.spent_s = 0.0
        """Processor time of all grades so far."""

    def start(self) -> None:
        """Have a child ready. Raises GraderStopped."""
        if self._channel is None:
            self._channel, self._handle, self._told = self._template.fork()

    def grade(self, grader: GraderModel, sample: Sample, item: Mapping[str, Any], limits: GradeLimits) -> float:
        """The grade of a grader that needs no tool. Its reasons are told as if it had graded here.

        Raises:
            GraderError: the grader raised it.
            GraderStopped: it was ended for a limit, or its process died.
            GraderBug: the grader raised anything else.
        """
        from trainer_core.rewards.isolated.child import GradeRequest

        answer = self._answer(GradeRequest(grader, sample, item, limits.cpu_s), f"{grader.type} grader", limits)
        if "error" in answer:
            raise GraderError(answer["error"])
        tell(answer["reason"] or "")
        return float(answer["value"])

    def check(self, check: Check, text: str, limits: GradeLimits) -> str | None:
        """Verdict of ``check`` on ``text``.

        Raises:
            JobTooHeavy: the check was ended for a limit of processor time or memory, or crashed its process: the same
                text would do so again.
            GraderStopped: it was ended for another reason.
            GraderBug: the check raised something.
        """
        from trainer_core.rewards.isolated.child import CheckRequest

        fault: str | None = self._answer(CheckRequest(check, text, limits.cpu_s), "check of the text", limits)["fault"]
        return fault

    def _answer(self, job: GradeRequest | CheckRequest, what: str, limits: GradeLimits) -> dict[str, Any]:
        """Answer of the child. Raises GraderStopped and GraderBug. ``what``: the job in words."""
        message = pickle.dumps(job, protocol=pickle.HIGHEST_PROTOCOL)
        self.start()
        self._loaded = False
        try:
            answer = self._ask(message, limits.wall_s)
        except TimeoutError:
            self.close()
            self.spent_s += limits.cpu_s
            raise GraderStopped(self._too_late(what, limits)) from None
        except BaseException:
            self.close()  # interrupted: an answer that comes later is nobody's
            raise
        if answer is None:
            self.spent_s += limits.cpu_s
            raise self._epitaph(what, limits)
        self.spent_s += answer["cpu_s"]
        if answer["last"]:
            self.close()
        if "memory" in answer:
            raise JobTooHeavy(self._too_big(what))
        if "bug" in answer:
            raise GraderBug(answer["bug"], answer["traceback"])
        return answer

    def close(self) -> None:
        """End the child, whatever it does."""
        if self._channel is None:
            return
        self._channel.close()
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)
        os.close(self._handle)
        os.close(self._told)
        self._channel = None

    def _ask(self, job: bytes, wall_s: float) -> dict[str, Any] | None:
        """The answer, or None where the child has died. ``wall_s`` counts from where the grader is loaded.

        Raises:
            TimeoutError: it did not come in time.
        """
        assert self._channel is not None
        self._channel.settimeout(START_S)
        try:
            wire.send(self._channel, job)
            message = wire.receive(self._channel)
            if message == wire.LOADED:
                self._loaded = True
                self._channel.settimeout(max(wall_s, 0.001))
                message = wire.receive(self._channel)
        except (BrokenPipeError, ConnectionResetError):
            return None
        if message is None:
            return None
        answer: dict[str, Any] = json.loads(message)
        return answer

    def _epitaph(self, what: str, limits: GradeLimits) -> GraderStopped:
        """The child has died: why."""
        with open(self._told, closefd=False) as pipe:
            told = pipe.read()
        self.close()
        if not told:
            return GraderStopped(f"the process of the {what} was ended from outside")
        code = int(told)
        if code == -signal.SIGPROF and not self._loaded:
            return GraderStopped(f"the {what} used more than {LOAD_S:g} s of processor time to load and was ended")
        if code == -signal.SIGPROF:
            return JobTooHeavy(f"the {what} used more than {limits.cpu_s:g} s of processor time and was ended")
        if code == OUT_OF_MEMORY:
            return JobTooHeavy(self._too_big(what))
        how = signal.Signals(-code).name if code < 0 else f"status {code}"
        dead = f"the process of the {what} died ({how})"
        return JobTooHeavy(dead) if code == -signal.SIGSEGV else GraderStopped(dead)

    def _too_late(self, what: str, limits: GradeLimits) -> str:
        if not self._loaded:
            return f"the {what} did not end within {START_S:g} s of loading: the machine is too busy"
        return (
            f"the {what} did not end within {limits.wall_s:g} s and was stopped; "
            f"it may use {limits.cpu_s:g} s of processor time: the machine is too busy, or the grader waits"
        )

    def _too_big(self, what: str) -> str:
        return f"the {what} needed more than {self._template.memory_mb} MiB of memory and was ended"

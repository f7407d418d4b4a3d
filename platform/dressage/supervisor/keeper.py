"""Keeper: the process that was started as ``up``. The supervisor is its child, and neither leaves anything behind.

If the keeper is killed, the kernel tells the supervisor, which stops everything in order. If the supervisor is killed,
its orphans become children of the keeper, whatever session they are in, and the keeper ends them.
"""

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from types import FrameType

import psutil

HOME_VARIABLE = "DRESSAGE_SUPERVISED_HOME"
"""Variable of every supervised process, and of all that they start: the data folder that they belong to."""
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_GRACE_S = 10.0
_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP)


def keep() -> None:
    """Go on as the supervisor, in a new process. This process becomes its keeper, and exits after it."""
    libc, keeper = ctypes.CDLL(None, use_errno=True), os.getpid()
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    sys.stdout.flush()
    sys.stderr.flush()
    # Signals wait until both sides are ready for them, else one could end the supervisor and be forwarded to nobody.
    signal.pthread_sigmask(signal.SIG_BLOCK, _FORWARDED)
    supervisor = os.fork()
    if supervisor == 0:
        os.setsid()  # a keyboard's interrupt reaches it once, from the keeper
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != keeper:  # it was killed before the line above
            os._exit(1)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _FORWARDED)
        return
    sys.exit(_kept(supervisor))


def end_leftovers(home: Path) -> int:
    """End what an earlier start of this home has left, if both of its processes were killed. Returns how many.

    Call it with the home's lock: then no living supervisor owns them.
    """
    left = [process for process in psutil.process_iter() if _belongs_to(process, home)]
    _end(left)
    return len(left)


def _kept(supervisor: int) -> int:
    """The exit status of the supervisor, once nothing is left of it."""

    def forward(number: int, _: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(supervisor, number)

    for number in _FORWARDED:
        signal.signal(number, forward)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _FORWARDED)
    while True:
        ended, status = os.wait()
        if ended == supervisor:
            break
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        name = signal.Signals(-code).name
        print(f"The supervisor was ended by {name}. Its processes are being ended too.", file=sys.stderr, flush=True)
    while left := psutil.Process().children(recursive=True):
        _end(left)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    return code if code >= 0 else 1


def _end(processes: list[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.Error):
            process.terminate()
    _, alive = psutil.wait_procs(processes, timeout=_GRACE_S)
    for process in alive:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(alive, timeout=_GRACE_S)


def _belongs_to(process: psutil.Process, home: Path) -> bool:
    with suppress(psutil.Error, OSError):
        return process.pid != os.getpid() and process.environ().get(HOME_VARIABLE) == str(home.resolve())
    return False

"""Obstacles to a start: another supervisor of the same home, or another program at the port."""

import fcntl
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import psutil
from django.core.management.base import CommandError

STOPPING_S = 60.0
"""Longest time for which a start waits for an earlier one that was killed and whose processes are stopping."""
_LOOK_S = 0.2
_LONGEST = 120
"""Characters of a command that are shown."""


def lock_home(home: Path, owner: int, stopping_s: float = STOPPING_S) -> TextIO:
    """The lock of a home, held until it is closed; it names its owner. Raises CommandError if another holds it."""
    lock = (home / "up.lock").open("a+")
    deadline = time.monotonic() + stopping_s
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            lock.truncate(0)
            lock.write(f"{owner}\n")
            lock.flush()
            return lock
        lock.seek(0)
        named = lock.read().strip()
        holder = _described(int(named)) if named.isdigit() else None
        if holder is not None or not named or time.monotonic() >= deadline:
            lock.close()
            raise CommandError(f"Dressage is already running in {home}{f': {holder}' if holder else ''}")
        time.sleep(_LOOK_S)  # its keeper was killed, and the supervisor is stopping everything


def refuse_taken_port(host: str, port: int) -> None:
    """Raise CommandError if the port is taken, with the process that holds it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            by = f" by {holder}" if (holder := _holder_of(port)) else ""
            detail = f"port {port} on {host} is taken{by} ({error.strerror}); stop it, or set DRESSAGE_PORT"
            raise CommandError(detail) from None


def _holder_of(port: int) -> str | None:
    """The process that listens at a port; None if it belongs to somebody else, or nobody listens."""
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            for one in process.net_connections():
                if one.status == psutil.CONN_LISTEN and one.laddr.port == port:
                    return _described(process.pid)
    return None


def _described(pid: int) -> str | None:
    """Id and command of a process; None if there is none."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        command = " ".join(process.cmdline()) or process.name()
    except psutil.NoSuchProcess:
        return None
    except psutil.Error:
        command = "of another user"
    return f"process {pid} ({command[:_LONGEST]})"

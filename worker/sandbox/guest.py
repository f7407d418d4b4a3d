"""The start of a job inside the jail: the walls that are its own, then its program."""

import json
import os
import resource
import sys
import traceback
from dataclasses import dataclass
from typing import Any

from worker.sandbox import kernel, landlock, roles, root

JOB, RESULT, CHANNEL = 100, 101, 102
SETUP_FAILED = 199
_LIMITS = {"memory": resource.RLIMIT_AS, "cpu": resource.RLIMIT_CPU, "processes": resource.RLIMIT_NPROC}
_FIXED = {
    resource.RLIMIT_FSIZE: 32 << 20,
    resource.RLIMIT_NOFILE: 64,
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_STACK: 64 << 20,
    resource.RLIMIT_MEMLOCK: 0,
}
_PIPE_BYTES = 65536


@dataclass(frozen=True, slots=True)
class Jail:
    """What the zygote hands to each job."""

    program: bytes
    """The seccomp filter."""
    shown: tuple[str, ...]


def run(jail: Jail, descriptors: list[int]) -> None:
    """Never returns. ``descriptors``: job, output, errors, result, and the channel to another job if there is one."""
    try:
        _wall_in(jail, descriptors)
    except BaseException as error:
        os.write(descriptors[3], f"SETUP {type(error).__name__}: {error}".encode()[:4000])
        os._exit(SETUP_FAILED)
    status = 1
    try:
        status = _start(_read_job())
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else int(bool(stop.code))
    except BaseException:
        traceback.print_exc()
    try:
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):
        status = status or 1
    os._exit(status & 255)


def _wall_in(jail: Jail, descriptors: list[int]) -> None:
    kernel.unshare(kernel.NEWNS | kernel.NEWIPC)
    root.mount_private()
    job, output, errors, result = descriptors[:4]
    null = os.open("/dev/null", os.O_RDONLY)
    for source, target in ((null, 0), (output, 1), (errors, 2), (job, JOB), (result, RESULT)):
        os.dup2(source, target)
    last = RESULT
    if len(descriptors) > 4:
        os.dup2(descriptors[4], CHANNEL)
        last = CHANNEL
    descriptors[3] = RESULT
    kernel.keep_descriptors(last)
    limits = json.loads(_read_line())
    for name, kind in _LIMITS.items():
        resource.setrlimit(kind, (limits[name], limits[name]))
    for kind, value in _FIXED.items():
        resource.setrlimit(kind, (value, value))
    kernel.drop_capabilities()
    kernel.forbid_new_privileges()
    landlock.restrict([path for path in (*root.READABLE, *jail.shown) if os.path.exists(path)], ["/tmp", "/dev/null"])
    # Not dumpable before the fork: the guest never finds a moment to open the memory of process 1.
    kernel.set_dumpable(False)
    child = os.fork()
    if child:
        _wait_as_first_process(child)
    kernel.set_dumpable(True)
    kernel.install_filter(jail.program)


def _wait_as_first_process(child: int) -> None:
    """Process 1 ignores the signals it sends to itself, so a guest must not be it. Reaps the guest's orphans."""
    for descriptor in (0, 1, 2, JOB, RESULT):
        os.close(descriptor)
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == child:
            os._exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))


def _read_line() -> bytes:
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = os.read(JOB, 1)
        if not byte:
            raise EOFError("the job has no limits")
        line += byte
    return bytes(line)


def _read_job() -> dict[str, Any]:
    text = bytearray()
    while part := os.read(JOB, 1 << 16):
        text += part
    os.close(JOB)
    job: dict[str, Any] = json.loads(text)
    return job


def _start(job: dict[str, Any]) -> int:
    _give_stdin(job.get("stdin", "").encode())
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
    for name, text in job.get("files", {}).items():
        with open(name, "w") as file:
            file.write(text)
    return roles.play(job)


def _give_stdin(data: bytes) -> None:
    if len(data) <= _PIPE_BYTES:
        source, sink = os.pipe()
        os.write(sink, data)
        os.close(sink)
    else:
        with open("stdin", "wb") as file:
            file.write(data)
        source = os.open("stdin", os.O_RDONLY)
        os.unlink("stdin")
    os.dup2(source, 0)
    os.close(source)

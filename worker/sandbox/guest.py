"""The start of a job inside the jail: first its own restrictions, then its program."""

import array
import json
import os
import resource
import socket
import struct
import sys
import traceback
from dataclasses import dataclass
from typing import Any, NoReturn

from worker.sandbox import kernel, landlock, roles, root

JOB, RESULT, CHANNEL = 100, 101, 102
READY = b"+"
"""Written as the result's first byte once the restrictions hold. The program's own output follows it, so a program
cannot pretend that the jail has failed."""
LIMITS = struct.Struct("QQQ")
"""Limits of a job in the supervisor's message: bytes of memory, seconds of processor time, number of processes."""
NO_LIMIT = (1 << 64) - 1
_LIMITS = (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_NPROC)
_FIXED = {
    resource.RLIMIT_FSIZE: 32 << 20,
    resource.RLIMIT_NOFILE: 64,
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_STACK: 64 << 20,
    resource.RLIMIT_MEMLOCK: 0,
}
_PIPE_BYTES = 65536


@dataclass(frozen=True, slots=True)
class JailSetup:
    """Setup that the zygote passes to each job."""

    program: bytes
    """The seccomp filter."""
    rules: landlock.Rules


def receive(box: socket.socket) -> tuple[bytes, list[int]]:
    """A message with its descriptors; empty if the other side is gone."""
    message, ancillary, _, _ = box.recvmsg(4096, socket.CMSG_SPACE(6 * 4))
    descriptors = array.array("i")
    for _, _, data in ancillary:
        descriptors.frombytes(data[: len(data) - len(data) % 4])
    return message, list(descriptors)


def run(jail: JailSetup, box: socket.socket) -> NoReturn:
    """Set up the restrictions, then wait on ``box`` for the only job.

    Its message contains its limits and the descriptors of the job, its output, errors and result, and of the channel to
    another job if there is one.
    """
    failure = ""
    try:
        _confine(jail)
    except BaseException as error:
        failure = f"{type(error).__name__}: {error}"
    limits, descriptors = receive(box)
    if not limits:
        os._exit(0)
    try:
        if failure:
            raise OSError(failure)
        _close_in(jail, limits, descriptors)
    except BaseException as error:
        os.write(descriptors[3], f"{type(error).__name__}: {error}".encode()[:4000])
        os._exit(1)
    os.write(RESULT, READY)
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


def _confine(jail: JailSetup) -> None:
    kernel.unshare(kernel.NEWNS | kernel.NEWIPC)
    root.mount_private()
    kernel.drop_capabilities()
    kernel.forbid_new_privileges()
    landlock.restrict(jail.rules, ["/proc"], ["/tmp", "/dev/null"])  # nosec B108


def _close_in(jail: JailSetup, limits: bytes, descriptors: list[int]) -> None:
    """The restrictions that depend on the job."""
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
    for kind, value in zip(_LIMITS, LIMITS.unpack(limits), strict=True):
        if value != NO_LIMIT:
            resource.setrlimit(kind, (value, value))
    for kind, value in _FIXED.items():
        resource.setrlimit(kind, (value, value))
    kernel.set_dumpable(True)  # the guest may inspect itself; the zygote and process 1 stay closed
    kernel.install_filter(jail.program)


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
    sys.argv, sys.orig_argv = [roles.PROGRAM, *job.get("args", [])], ["python3", roles.PROGRAM, *job.get("args", [])]
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

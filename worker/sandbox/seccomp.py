"""Assembles the seccomp program: an allow-list of system calls. All others get EPERM, so that programs can continue."""

import errno
import platform
import struct

from worker.sandbox import kernel
from worker.sandbox.syscall_tables import AARCH64, X86_64

_LOAD, _EQUAL, _ABOVE, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
_KILL, _ALLOW, _ERROR = 0x80000000, 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24
_NAMESPACES = (
    kernel.NEWNS
    | kernel.NEWCGROUP
    | kernel.NEWUTS
    | kernel.NEWIPC
    | kernel.NEWUSER
    | kernel.NEWPID
    | kernel.NEWNET
    | 0x80
)
_TERMINAL_REQUESTS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""ioctl: TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX."""


def program() -> bytes:
    """The filter for this machine. ``clone`` is allowed without namespaces, ``ioctl`` only for what files need."""
    numbers = kernel.numbers()
    denied = _step(_RETURN, _ERROR | errno.EPERM)
    allowed = _step(_RETURN, _ALLOW)
    steps = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, numbers.audit, 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
        # glibc falls back from clone3, whose flags a filter cannot see, to clone.
        _step(_EQUAL, kernel.CLONE3, 0, 1),
        _step(_RETURN, _ERROR | errno.ENOSYS),
        _step(_EQUAL, numbers.clone, 0, 4),
        _step(_LOAD, _FIRST_ARGUMENT),
        _step(_ANY_BIT, _NAMESPACES, 0, 1),
        denied,
        allowed,
        _step(_EQUAL, numbers.ioctl, 0, len(_TERMINAL_REQUESTS) + 3),
        _step(_LOAD, _SECOND_ARGUMENT),
    ]
    count = len(_TERMINAL_REQUESTS)
    steps += [_step(_EQUAL, request, count - index, 0) for index, request in enumerate(_TERMINAL_REQUESTS)]
    steps += [denied, allowed]
    for first, last in X86_64 if platform.machine() == "x86_64" else AARCH64:
        steps += [_step(_ABOVE, last, 3, 0), _step(_AT_LEAST, first, 0, 1), allowed, denied]
    return b"".join([*steps, denied])


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)

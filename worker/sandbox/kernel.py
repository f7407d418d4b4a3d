"""The jail's system calls, through ctypes: Python 3.11's standard library has none of them."""

import ctypes
import os
import platform
import signal
import struct
from dataclasses import dataclass
from typing import Any

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
RDONLY, NOSUID, NODEV, NOEXEC, REMOUNT, BIND, REC, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
_DETACH = 2
_SET_PDEATHSIG, _SET_DUMPABLE, _SET_SECCOMP, _CAPBSET_DROP, _SET_NO_NEW_PRIVS = 1, 4, 22, 24, 38
_CAP_AMBIENT, _AMBIENT_RAISE = 47, 2
_LAST_CAPABILITY = 63
_CAPABILITY_HEADER = struct.pack("Ii", 0x20080522, 0)

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Numbers:
    """System call numbers that differ between the architectures."""

    audit: int
    """The architecture's identifier for seccomp."""
    pivot_root: int
    capset: int
    ioctl: int
    clone: int


_NUMBERS = {"x86_64": Numbers(0xC000003E, 155, 126, 16, 56), "aarch64": Numbers(0xC00000B7, 41, 91, 29, 220)}
CLONE3, CLOSE_RANGE = 435, 436
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446


def numbers() -> Numbers:
    """System call numbers of this machine.

    Raises:
        OSError: the jail does not support this architecture.
    """
    machine = platform.machine()
    if machine not in _NUMBERS:
        raise OSError(f"the jail does not know the architecture {machine}")
    return _NUMBERS[machine]


def call(number: int, *arguments: Any) -> int:
    """Make a raw system call. Raises OSError if the kernel refuses."""
    wide = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    return _check(int(_libc.syscall(ctypes.c_long(number), *wide)), f"system call {number}")


def mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """Call mount(2)."""
    texts = [None if text is None else text.encode() for text in (source, target, kind, data)]
    result = _libc.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3])
    _check(result, f"mount {kind or source} on {target}")


def unshare(flags: int) -> None:
    """Call unshare(2)."""
    _check(_libc.unshare(ctypes.c_int(flags)), "unshare")


def enter(namespace: int, kind: int) -> None:
    """Call setns(2)."""
    _check(_libc.setns(namespace, kind), "setns")


def change_root(path: str) -> None:
    """Make ``path`` the root of this mount namespace and detach the old root."""
    os.chdir(path)
    call(numbers().pivot_root, b".", b".")
    _check(_libc.umount2(b".", _DETACH), "umount of the old root")
    os.chdir("/")


def fork_first_process() -> int:
    """Fork process 1 of a new process namespace. It only reaps orphans. Returns its id.

    Uses a raw clone: what Python does after a fork is not needed here, and costs as much as the fork.
    """
    process = call(numbers().clone, signal.SIGCHLD, 0, 0, 0, 0)
    if process == 0:
        try:
            call(CLOSE_RANGE, 0, 0xFFFFFFFF, 0)
            _libc.signal(signal.SIGCHLD, ctypes.c_void_p(signal.SIG_IGN))  # the kernel reaps them
            while True:
                _libc.pause()
        finally:
            os._exit(1)
    return process


def set_host_name(name: bytes) -> None:
    """Call sethostname(2)."""
    _check(_libc.sethostname(name, ctypes.c_size_t(len(name))), "sethostname")


def die_with_parent() -> None:
    """Have this process killed when the thread that created it ends."""
    _control(_SET_PDEATHSIG, 9)


def set_dumpable(on: bool) -> None:
    """Set whether other processes of the same user may read this process's memory."""
    _control(_SET_DUMPABLE, int(on))


def forbid_new_privileges() -> None:
    """Prevent programs that this process starts from gaining rights by being setuid."""
    _control(_SET_NO_NEW_PRIVS, 1)


def bound_capabilities() -> None:
    """Prevent programs started by this process or its children from gaining capabilities. Held ones are kept."""
    for capability in range(_LAST_CAPABILITY + 1):
        _libc.prctl(_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0)  # EINVAL above the kernel's last


def drop_capabilities() -> None:
    """Give up every capability, for good."""
    call(numbers().capset, _CAPABILITY_HEADER, b"\0" * 24)


def keep_capabilities() -> None:
    """Let the next program that this process starts have this process's capabilities."""
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("CapPrm:"))
    held = int(line.split()[1], 16)
    low, high = held & 0xFFFFFFFF, held >> 32
    call(numbers().capset, _CAPABILITY_HEADER, struct.pack("6I", low, low, low, high, high, high))
    for capability in range(_LAST_CAPABILITY + 1):
        if held >> capability & 1:
            result = _libc.prctl(_CAP_AMBIENT, ctypes.c_ulong(_AMBIENT_RAISE), ctypes.c_ulong(capability), 0, 0)
            _check(result, f"ambient capability {capability}")


def set_command_line(words: tuple[str, ...]) -> None:
    """Show ``words`` as this process's command line. Raises OSError if they need more room than the original one."""
    with open("/proc/self/stat", "rb") as stat:
        fields = stat.read().rpartition(b")")[2].split()
    start, end = int(fields[45]), int(fields[46])
    text = b"".join(word.encode() + b"\0" for word in words)
    if len(text) > end - start:
        raise OSError("the command line has no room")
    ctypes.memset(start, 0, end - start)
    ctypes.memmove(start, text, len(text))


def install_filter(program: bytes) -> None:
    """Put this process under a seccomp program, a sequence of 8-byte BPF instructions."""
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    _check(_libc.prctl(_SET_SECCOMP, ctypes.c_ulong(2), header, 0, 0), "seccomp")


def keep_descriptors(last: int) -> None:
    """Close everything but 0, 1, 2 and 100 to ``last``."""
    call(CLOSE_RANGE, 3, 99, 0)
    call(CLOSE_RANGE, last + 1, 0xFFFFFFFF, 0)


def _control(option: int, value: int) -> None:
    _check(_libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl {option}")


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result

"""The seccomp filter of each architecture, run instruction by instruction: this machine has only one of them."""

import errno
import itertools
import platform
import struct

import pytest

from worker.sandbox import kernel, seccomp
from worker.sandbox.syscall_tables import AARCH64, X86_64

MACHINES = ("x86_64", "aarch64")
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, KILL, REFUSED, MISSING = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS

# fmt: off
NEEDED = {  # name: (x86-64, aarch64)
    "read": (0, 63), "write": (1, 64), "close": (3, 57), "openat": (257, 56), "lseek": (8, 62), "mmap": (9, 222),
    "mprotect": (10, 226), "munmap": (11, 215), "brk": (12, 214), "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "mremap": (25, 216), "madvise": (28, 233),
    "nanosleep": (35, 101), "clock_nanosleep": (230, 115), "getpid": (39, 172), "sendfile": (40, 71),
    "sendto": (44, 206), "recvfrom": (45, 207), "socketpair": (53, 199), "execve": (59, 221), "exit": (60, 93),
    "wait4": (61, 260), "kill": (62, 129), "uname": (63, 160), "fcntl": (72, 25), "ftruncate": (77, 46),
    "getcwd": (79, 17), "chdir": (80, 49), "getdents64": (217, 61), "umask": (95, 166), "gettimeofday": (96, 169),
    "getrusage": (98, 165), "getuid": (102, 174), "setsid": (112, 157), "sigaltstack": (131, 132), "statfs": (137, 43),
    "prctl": (157, 167), "gettid": (186, 178), "futex": (202, 98), "sched_getaffinity": (204, 123),
    "set_tid_address": (218, 96), "clock_gettime": (228, 113), "exit_group": (231, 94), "tgkill": (234, 131),
    "mkdirat": (258, 34), "unlinkat": (263, 35), "fstatat": (262, 79), "ppoll": (271, 73),
    "set_robust_list": (273, 99), "epoll_create1": (291, 20), "epoll_pwait": (281, 22), "dup3": (292, 24),
    "pipe2": (293, 59), "prlimit64": (302, 261), "getrandom": (318, 278), "statx": (332, 291), "rseq": (334, 293),
    "close_range": (436, 436), "openat2": (437, 437), "faccessat2": (439, 439),
}
DANGEROUS = {
    "socket": (41, 198), "connect": (42, 203), "accept": (43, 202), "bind": (49, 200), "listen": (50, 201),
    "ptrace": (101, 117), "setuid": (105, 146), "setresuid": (117, 147), "capset": (126, 91), "personality": (135, 92),
    "pivot_root": (155, 41), "chroot": (161, 51), "mount": (165, 40), "umount2": (166, 39), "swapon": (167, 224),
    "reboot": (169, 142), "sethostname": (170, 161), "init_module": (175, 105), "delete_module": (176, 106),
    "mq_open": (240, 180), "kexec_load": (246, 104), "add_key": (248, 217), "request_key": (249, 218),
    "keyctl": (250, 219), "unshare": (272, 97), "vmsplice": (278, 75), "perf_event_open": (298, 241),
    "open_by_handle_at": (304, 265), "setns": (308, 268), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "finit_module": (313, 273), "seccomp": (317, 277), "memfd_create": (319, 279),
    "bpf": (321, 280), "userfaultfd": (323, 282), "pkey_alloc": (330, 289), "pidfd_send_signal": (424, 424),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "open_tree": (428, 428), "move_mount": (429, 429),
    "fsopen": (430, 430), "fsmount": (432, 432), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440), "mount_setattr": (442, 442), "landlock_create_ruleset": (444, 444),
    "memfd_secret": (447, 447),
}
# fmt: on


def verdict(program: bytes, audit: int, number: int, *arguments: int) -> int:
    """What the kernel's interpreter would return."""
    data = struct.pack("<IIQ6Q", number, audit, 0, *(*arguments, *[0] * (6 - len(arguments))))
    steps = list(struct.iter_unpack("<HBBI", program))
    register, at = 0, 0
    while True:
        code, if_true, if_false, value = steps[at]
        at += 1
        match code:
            case 0x20:
                (register,) = struct.unpack_from("<I", data, value)
            case 0x15:
                at += if_true if register == value else if_false
            case 0x25:
                at += if_true if register > value else if_false
            case 0x35:
                at += if_true if register >= value else if_false
            case 0x45:
                at += if_true if register & value else if_false
            case 0x06:
                return value
            case _:
                raise AssertionError(f"instruction {code:#x}")


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(platform, "machine", lambda: request.param)
    name: str = request.param
    return name


def test_what_programs_need_is_allowed(machine: str) -> None:
    program, column = seccomp.program(), MACHINES.index(machine)
    refused = [name for name, row in NEEDED.items() if verdict(program, AUDIT[machine], row[column]) != ALLOW]
    assert refused == []


def test_what_is_dangerous_is_refused(machine: str) -> None:
    program, column = seccomp.program(), MACHINES.index(machine)
    allowed = [name for name, row in DANGEROUS.items() if verdict(program, AUDIT[machine], row[column]) != REFUSED]
    assert allowed == []
    assert verdict(program, AUDIT[machine], 10_000) == REFUSED


def test_calls_of_another_architecture_kill(machine: str) -> None:
    other = AUDIT[next(name for name in MACHINES if name != machine)]
    for audit in (other, 0x40000003):  # and of 32-bit x86
        assert verdict(seccomp.program(), audit, 0) == KILL
    assert verdict(seccomp.program(), AUDIT["x86_64"] if machine == "x86_64" else other, 0x40000000) in (REFUSED, KILL)


def test_new_processes_yes_new_namespaces_no(machine: str) -> None:
    program, audit, clone = seccomp.program(), AUDIT[machine], kernel.numbers().clone
    assert clone == {"x86_64": 56, "aarch64": 220}[machine]
    threads = 0x3D0F00
    assert [verdict(program, audit, clone, flags) for flags in (17, threads)] == [ALLOW, ALLOW]
    for flag in (0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert verdict(program, audit, clone, flag | 17) == REFUSED
    assert verdict(program, audit, kernel.CLONE3) == MISSING, "the C library then uses clone"


def test_terminals_are_asked_and_never_fed(machine: str) -> None:
    program, audit, ioctl = seccomp.program(), AUDIT[machine], kernel.numbers().ioctl
    assert ioctl == {"x86_64": 16, "aarch64": 29}[machine]
    assert [verdict(program, audit, ioctl, 0, request) for request in (0x5401, 0x5413, 0x541B)] == [ALLOW] * 3
    push_input, set_terminal, paste = 0x5412, 0x5402, 0x541C
    assert [verdict(program, audit, ioctl, 0, request) for request in (push_input, set_terminal, paste)] == [
        REFUSED
    ] * 3


@pytest.mark.parametrize("table", [X86_64, AARCH64])
def test_ranges_are_sorted_and_apart(table: tuple[tuple[int, int], ...]) -> None:
    assert all(first <= last for first, last in table)
    assert all(before[1] < after[0] for before, after in itertools.pairwise(table))


def test_numbers_outside_the_filter(machine: str) -> None:
    numbers = kernel.numbers()
    assert (numbers.pivot_root, numbers.capset) == {"x86_64": (155, 126), "aarch64": (41, 91)}[machine]
    assert numbers.audit == AUDIT[machine]


def test_another_architecture_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(OSError, match="does not know the architecture riscv64"):
        seccomp.program()

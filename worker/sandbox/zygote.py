"""The process that jobs are forked from. It is confined once, has its modules loaded, and never sees a job's data.

While a job runs, the next job's jail is built. It waits for its job, is used once, and dies with it.

Started as ``python -I -S -c …`` by ``slot``; communicates over the socket whose number is its argument. For each job
the supervisor sends pipes and gets back pidfds, and at the end the exit status with the resources used.
"""

import array
import contextlib
import gc
import importlib
import json
import os
import select
import signal
import site
import socket
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from worker.sandbox import familiar, guest, kernel, landlock, roles, root, seccomp, symbolic

NOBODY = 65534
FIRST_USER = 1_900_000_000
"""First of the user ids for slots started by root: each becomes a separate user, so that process limits apply to it."""
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",  # nosec B108
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
}
SOURCES = "/jail"
"""Path of these sources while a zygote loads."""
_FLAGS = ("-S", "-s", "-P")
_BEGIN = f"import sys; sys.path.insert(0, {SOURCES!r}); from worker.sandbox.zygote import main, start; start(main)"
STATUS = struct.Struct("iddl")
"""Exit status, user and system seconds, largest resident set in KiB."""


def enclose(link: socket.socket, options: dict[str, Any]) -> None:
    """Confine this process, then restart with the interpreter in the jail: nothing of the host stays in memory."""
    seccomp.program()  # fails first if the architecture is unknown
    _confine(options)
    kernel.keep_capabilities()
    os.set_inheritable(link.fileno(), True)
    environment = dict(ENVIRONMENT)
    if options["libraries"]:
        environment["LD_LIBRARY_PATH"] = options["libraries"]
    arguments = [options["interpreter"], *_FLAGS, "-c", _BEGIN, str(link.fileno()), json.dumps(options)]
    os.execve(options["interpreter"], arguments, environment)  # nosec B606


def main(link: socket.socket, options: dict[str, Any]) -> None:
    """Load, then serve jobs until the supervisor is gone."""
    kernel.die_with_parent()
    kernel.set_command_line(("python3", roles.PROGRAM))
    sys.path.extend(options["paths"])
    os.environ.pop("LD_LIBRARY_PATH", None)
    site.setquit()  # programs call exit() and quit(), which an interpreter started without site lacks
    for name in options["preload"]:
        importlib.import_module(name)
    if not options["sympy"]:
        sys.set_int_max_str_digits(0)  # processor time bounds how long a number can be written
    else:
        for gold, answer in familiar.FAMILIAR:
            symbolic.compare(gold, answer)
    sys.path.remove(SOURCES)
    kernel.mount("tmpfs", SOURCES, "tmpfs", kernel.RDONLY, "size=4k,mode=755")
    pids = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    places = {f"/{place.split('/')[1]}" for place in options["shown"]} - {SOURCES}
    readable = sorted({*root.READABLE, *places})
    jail = guest.JailSetup(seccomp.program(), landlock.prepare(path for path in readable if os.path.exists(path)))
    kernel.bound_capabilities()
    # Before any job is forked, so that no guest can ever open the memory of its process 1, which inherits it.
    kernel.set_dumpable(False)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's handler would wake process 1
    gc.collect()
    gc.freeze()  # a job's garbage collector then does not touch, and so does not copy, these pages
    next_spare = _prepare(jail, pids)
    link.send(b"R")
    while True:
        message, descriptors = guest.receive(link)
        if not message:
            os._exit(0)
        spare = next_spare
        _hand_over(link, spare, message[1:], descriptors)
        next_spare = _prepare(jail, pids)  # while the job runs
        _bury(link, spare)


def _confine(options: dict[str, Any]) -> None:
    """Enter the namespaces in which jobs are created."""
    was_root = os.geteuid() == 0
    shown, covered = options["shown"], options["covered"]
    if was_root:
        kernel.unshare(kernel.NEWNS)
        built = root.build(shown, covered)
        root.enter(built)
        _become_nobody()
    user, group = os.getuid(), os.getgid()
    spaces = kernel.NEWPID | kernel.NEWIPC | kernel.NEWUTS | kernel.NEWNET | kernel.NEWCGROUP
    kernel.unshare(kernel.NEWUSER | kernel.NEWNS | spaces)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{NOBODY} {user} 1"), ("gid_map", f"{NOBODY} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    child = os.fork()
    if child:  # only a child is in the new process namespace; this process waits and ends with it
        kernel.die_with_parent()
        os.waitpid(child, 0)
        os._exit(0)
    kernel.die_with_parent()
    if not was_root:
        root.enter(root.build(shown, covered))
    kernel.set_host_name(b"jail")


def _become_nobody() -> None:
    os.setgroups([])
    user = FIRST_USER + os.getpid()
    try:
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    except OSError:  # a container with few user ids
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    kernel.set_dumpable(True)  # else /proc/self/uid_map belongs to root


@dataclass(frozen=True, slots=True)
class Spare:
    """A finished jail that waits for its only job."""

    first: int
    """Process 1 of the spare, with a pidfd."""
    first_handle: int
    guest: int
    guest_handle: int
    box: socket.socket
    """Socket on which the guest waits for its limits and descriptors."""


def _prepare(jail: guest.JailSetup, pids: int) -> Spare:
    """Build a jail in advance, so that the next job need not wait."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    kernel.unshare(kernel.NEWPID)
    first = kernel.fork_first_process()
    job = os.fork()
    if job == 0:
        ours.close()
        guest.run(jail, theirs)
    kernel.enter(pids, kernel.NEWPID)
    theirs.close()
    return Spare(first, os.pidfd_open(first), job, os.pidfd_open(job), ours)


def _hand_over(link: socket.socket, spare: Spare, limits: bytes, descriptors: list[int]) -> None:
    given = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
    with spare.box, contextlib.suppress(BrokenPipeError):  # it has died: its status shows that
        spare.box.sendmsg([limits], given)
    for descriptor in descriptors:
        os.close(descriptor)
    handles = array.array("i", [spare.first_handle, spare.guest_handle])
    link.sendmsg([b"P"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, handles)])


def _bury(link: socket.socket, spare: Spare) -> None:
    """Wait for the end of the job, kill what it leaves, and report."""
    poll = select.poll()
    poll.register(spare.guest_handle, select.POLLIN)
    poll.register(link, select.POLLHUP)  # the supervisor is gone
    poll.poll()
    signal.pidfd_send_signal(spare.first_handle, signal.SIGKILL)
    _, status, used = os.wait4(spare.guest, 0)
    os.waitpid(spare.first, 0)
    os.close(spare.first_handle)
    os.close(spare.guest_handle)
    link.send(STATUS.pack(status, used.ru_utime, used.ru_stime, used.ru_maxrss))


def start(work: Callable[[socket.socket, dict[str, Any]], None]) -> None:
    """Entry point. The arguments are the socket's number and the options as JSON."""
    link = socket.socket(fileno=int(sys.argv[1]))
    try:
        work(link, json.loads(sys.argv[2]))
    except BaseException as error:
        link.send(f"E{type(error).__name__}: {error}".encode()[:4000])
        os._exit(1)

"""The process that jobs are forked from: walled in once, with its modules loaded, it never sees a job's data.

Started as ``python -I -S -c …`` by ``slot``; speaks over the socket whose number is its argument. Per job the
supervisor sends pipes; it gets back a pidfd, and at the end the exit status with the resources used.
"""

import array
import gc
import importlib
import json
import os
import select
import signal
import socket
import struct
import sys
from typing import Any

from worker.sandbox import guest, kernel, root, seccomp, symbolic

NOBODY = 65534
FIRST_USER = 1_900_000_000
"""Started by root, each slot becomes a user of its own from here on, so that process limits bind it."""
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
}
STATUS = struct.Struct("iddl")
"""Exit status, user and system seconds, largest resident set in KiB."""


def main(link: socket.socket, options: dict[str, Any]) -> None:
    """Wall in, load, then serve jobs until the supervisor is gone."""
    sys.path.extend(options["paths"])
    os.environ.clear()
    os.environ.update(ENVIRONMENT)
    for name in options["preload"]:
        importlib.import_module(name)
    if options["sympy"]:
        for gold, answer in symbolic.FAMILIAR:
            symbolic.compare(gold, answer)
    program = seccomp.program()
    pids = _wall_in(options["shown"])
    jail = guest.Jail(program=program, shown=tuple(options["shown"]))
    gc.collect()
    gc.freeze()  # the collector of a job does not touch, and so not copy, these pages
    link.send(b"R")
    while True:
        message, descriptors = _receive(link)
        if not message:
            os._exit(0)
        _serve(link, jail, pids, descriptors)


def _wall_in(shown: list[str]) -> int:
    """Enter the namespaces. Returns a descriptor of the process namespace that jobs are made from."""
    was_root = os.geteuid() == 0
    if was_root:
        kernel.unshare(kernel.NEWNS)
        built = root.build(shown)
        root.enter(built)
        _become_nobody()
    user, group = os.getuid(), os.getgid()
    spaces = kernel.NEWPID | kernel.NEWIPC | kernel.NEWUTS | kernel.NEWNET | kernel.NEWCGROUP
    kernel.unshare(kernel.NEWUSER | kernel.NEWNS | spaces)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{NOBODY} {user} 1"), ("gid_map", f"{NOBODY} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    child = os.fork()
    if child:  # only a child is in the new process namespace; this one waits and passes its end on
        kernel.die_with_parent()
        os.waitpid(child, 0)
        os._exit(0)
    kernel.die_with_parent()
    if not was_root:
        root.enter(root.build(shown))
    kernel.set_host_name(b"jail")
    return os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)


def _become_nobody() -> None:
    os.setgroups([])
    user = FIRST_USER + os.getpid()
    try:
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    except OSError:  # a container with few users
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    kernel.set_dumpable(True)  # else /proc/self/uid_map belongs to root


def _receive(link: socket.socket) -> tuple[bytes, list[int]]:
    message, ancillary, _, _ = link.recvmsg(4096, socket.CMSG_SPACE(6 * 4))
    descriptors = array.array("i")
    for _, _, data in ancillary:
        descriptors.frombytes(data[: len(data) - len(data) % 4])
    return message, list(descriptors)


def _serve(link: socket.socket, jail: guest.Jail, pids: int, descriptors: list[int]) -> None:
    kernel.unshare(kernel.NEWPID)
    child = os.fork()
    if child == 0:
        link.detach()
        guest.run(jail, descriptors)
    kernel.enter(pids, kernel.NEWPID)
    for descriptor in descriptors:
        os.close(descriptor)
    handle = os.pidfd_open(child)
    link.sendmsg([b"P"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [handle]))])
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    poll.register(link, select.POLLHUP)
    if not any(ready == handle for ready, _ in poll.poll()):
        signal.pidfd_send_signal(handle, signal.SIGKILL)  # the supervisor is gone
    _, status, used = os.wait4(child, 0)
    os.close(handle)
    link.send(STATUS.pack(status, used.ru_utime, used.ru_stime, used.ru_maxrss))


def start() -> None:
    """Entry: the socket's number and the options as JSON are the arguments."""
    link = socket.socket(fileno=int(sys.argv[1]))
    try:
        main(link, json.loads(sys.argv[2]))
    except BaseException as error:
        link.send(f"E{type(error).__name__}: {error}".encode()[:4000])
        os._exit(1)

"""The jail's file system: the interpreter and the system's programs read-only, and a small private ``/tmp``."""

import glob
import os
from collections.abc import Mapping

from worker.sandbox import kernel

_STAGE = "/tmp"  # nosec B108
_DEVICES = ("null", "zero", "urandom", "random", "full")
_LINKS = {
    "shm": "/tmp",  # nosec B108
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
}
_USR_LINKS = ("bin", "lib", "lib64", "sbin")
PRIVATE_TMP = "size=64m,nr_inodes=4096,mode=1777"
READABLE = ("/usr", "/dev", "/etc")
HIDDEN = ("/usr/local",)
"""Host folders that a jail shows empty: software installed in addition to the system's own programs."""
_SETTINGS = "/etc/java-*"
"""Configuration folders that some of the system's programs need to start."""


def build(shown: Mapping[str, str], covered: str = "") -> str:
    """Build the root on a fresh tmpfs of this mount namespace. Returns its path.

    Args:
        shown: folders of the host, by the path at which the jail shows them.
        covered: a path among them that is shown empty.
    """
    os.umask(0o022)  # jailed processes must be able to read what is created here, and no other process gets in
    # Descriptors first: the stage covers /tmp, and a folder to be shown may be there.
    kernel.mount("none", "/", None, kernel.REC | kernel.PRIVATE)
    places = {"/usr": "/usr", **{path: path for path in glob.glob(_SETTINGS)}, **shown}
    sources = {place: os.open(path, os.O_PATH | os.O_CLOEXEC) for place, path in places.items()}
    flags = kernel.NOSUID | kernel.NODEV
    kernel.mount("tmpfs", _STAGE, "tmpfs", flags, "size=4m,mode=755")
    root = f"{_STAGE}/root"
    os.mkdir(root)
    kernel.mount("tmpfs", root, "tmpfs", flags, "size=1m,mode=755")
    for path, source in sorted(sources.items()):
        if os.path.isdir(f"/proc/self/fd/{source}"):
            os.makedirs(root + path, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(root + path), exist_ok=True)
            with open(root + path, "w"):
                pass
        kernel.mount(f"/proc/self/fd/{source}", root + path, None, kernel.BIND | kernel.REC)
        kernel.mount("none", root + path, None, kernel.BIND | kernel.REMOUNT | kernel.RDONLY | flags)
        os.close(source)
    for path in (*HIDDEN, covered):
        if path and os.path.isdir(root + path):
            kernel.mount("tmpfs", root + path, "tmpfs", flags | kernel.RDONLY, "size=4k,mode=755")
    for name in _USR_LINKS:
        if os.path.isdir(f"/usr/{name}"):
            os.symlink(f"usr/{name}", f"{root}/{name}")
    for name in ("proc", "dev", "tmp", "etc"):
        os.makedirs(f"{root}/{name}", exist_ok=True)
    with open(f"{root}/etc/passwd", "w") as passwd:
        passwd.write("nobody:x:65534:65534:nobody:/tmp:/bin/sh\n")
    for name in _DEVICES:
        with open(f"{root}/dev/{name}", "w"):
            pass
        kernel.mount(f"/dev/{name}", f"{root}/dev/{name}", None, kernel.BIND)
    for name, target in _LINKS.items():
        os.symlink(target, f"{root}/dev/{name}")
    kernel.mount("proc", f"{root}/proc", "proc", flags | kernel.NOEXEC)
    return root


def enter(root: str) -> None:
    """Make ``root`` the root, read-only."""
    kernel.change_root(root)
    kernel.mount("none", "/", None, kernel.BIND | kernel.REMOUNT | kernel.RDONLY | kernel.NOSUID | kernel.NODEV)


def mount_private() -> None:
    """Mount a job's own ``/tmp`` and ``/proc``, in its own mount namespace."""
    flags = kernel.NOSUID | kernel.NODEV
    kernel.mount("tmpfs", "/tmp", "tmpfs", flags, PRIVATE_TMP)  # nosec B108
    kernel.mount("proc", "/proc", "proc", flags | kernel.NOEXEC, "subset=pid")  # shows nothing about the machine
    os.chdir("/tmp")  # nosec B108

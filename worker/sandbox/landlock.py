"""Landlock: a second wall around the file system, should the mount namespace have a hole."""

import os
import struct
from collections.abc import Iterable

from worker.sandbox import kernel

_READ = 0b1101
"""Execute, read a file, read a folder."""
_FILE_RIGHTS = 0b0111 | 1 << 14 | 1 << 15
_DEVICE_NODES = 1 << 6 | 1 << 11
_PATH_BENEATH = 1


def version() -> int:
    """Landlock's ABI on this kernel. Raises OSError where there is none."""
    return kernel.call(kernel.LANDLOCK_CREATE, None, 0, 1)


def restrict(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Confine this process: all else cannot be opened, no TCP, no signals or abstract sockets to the outside."""
    abi = version()
    rights = (1 << 13) - 1
    for least, right in ((2, 13), (3, 14), (5, 15)):
        rights |= 1 << right if abi >= least else 0
    rules = struct.pack("QQQ", rights, 3, 3)[: 8 if abi < 4 else 16 if abi < 6 else 24]
    ruleset = kernel.call(kernel.LANDLOCK_CREATE, rules, len(rules), 0)
    for paths, wanted in ((readable, _READ), (writable, rights & ~_DEVICE_NODES)):
        for path in paths:
            _allow(ruleset, path, wanted & rights)
    kernel.call(kernel.LANDLOCK_RESTRICT, ruleset, 0)
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    if not os.path.isdir(path):
        rights &= _FILE_RIGHTS
    kernel.call(kernel.LANDLOCK_ADD, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
    os.close(place)

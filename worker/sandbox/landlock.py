"""Landlock: a second restriction of the file system, in case the mount namespace has a hole."""

import os
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from worker.sandbox import kernel

_READ = 0b1101
"""Rights to execute, read a file and read a folder."""
_FILE_RIGHTS = 0b0111 | 1 << 14 | 1 << 15
_DEVICE_NODES = 1 << 6 | 1 << 11
_PATH_BENEATH = 1
_RULE = struct.Struct("=Qi")


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules that are the same for every job. The zygote computes them once."""

    handled: bytes
    """Rights that are refused unless a rule allows them, in the kernel's format."""
    rights: int
    readable: tuple[bytes, ...]
    """A rule for each permanent path; the paths are open in the zygote."""


def version() -> int:
    """Landlock's ABI version on this kernel. Raises OSError if there is none."""
    return kernel.call(kernel.LANDLOCK_CREATE, None, 0, 1)


def prepare(readable: Iterable[str]) -> Rules:
    """Rules that allow reading ``readable``. Raises OSError if the kernel has no Landlock."""
    abi = version()
    rights = (1 << 13) - 1
    for least, right in ((2, 13), (3, 14), (5, 15)):
        rights |= 1 << right if abi >= least else 0
    handled = struct.pack("QQQ", rights, 3, 3)[: 8 if abi < 4 else 16 if abi < 6 else 24]
    return Rules(handled, rights, tuple(_rule(path, _READ & rights) for path in readable))


def restrict(rules: Rules, readable: Iterable[str], writable: Iterable[str]) -> None:
    """Confine this process: nothing else can be opened, no TCP, no signals or abstract sockets to the outside.

    ``readable`` and ``writable`` are the job's own mounts. The caller closes the descriptors that this leaves open.
    """
    ruleset = kernel.call(kernel.LANDLOCK_CREATE, rules.handled, len(rules.handled), 0)
    own = [_rule(path, _READ & rules.rights) for path in readable]
    own += [_rule(path, rules.rights & ~_DEVICE_NODES) for path in writable]
    for rule in (*rules.readable, *own):
        kernel.call(kernel.LANDLOCK_ADD, ruleset, _PATH_BENEATH, rule, 0)
    kernel.call(kernel.LANDLOCK_RESTRICT, ruleset, 0)


def _rule(path: str, rights: int) -> bytes:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    return _RULE.pack(rights if os.path.isdir(path) else rights & _FILE_RIGHTS, place)

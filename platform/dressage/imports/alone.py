"""Folders of imports, each of which one worker has at a time, in whatever process."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def alone_in(folder: Path) -> Iterator[bool]:
    """Whether the folder is there and no other worker has it. The kernel gives it back when this process is killed."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        yield False
        return
    try:
        yield _is_held(descriptor, folder)
    finally:
        os.close(descriptor)


def _is_held(descriptor: int, folder: Path) -> bool:
    """Take the lock of an open folder: False when another has it, or has removed or renamed the folder meanwhile."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(descriptor), os.stat(folder))
    except (BlockingIOError, FileNotFoundError):
        return False

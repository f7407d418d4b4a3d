"""Exclusive access to import folders: only one worker at a time has a folder, across processes."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def alone_in(folder: Path) -> Iterator[bool]:
    """Whether the folder exists and no other worker has it. The kernel releases the lock if this process dies."""
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
    """Lock an open folder. False if another worker has it, or has removed or renamed the folder in the meantime."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(descriptor), os.stat(folder))
    except (BlockingIOError, FileNotFoundError):
        return False

"""Reads notes whose file may be replaced during the read, for example when a job ends or is undone."""

from collections.abc import Callable
from typing import TypeVar

Read = TypeVar("Read")


def read_again(read: Callable[[], Read]) -> Read:
    """Result of ``read``, which looks up the current notes in the database. Retried once if their file is gone.

    Raises:
        FileNotFoundError: a file is gone at the second attempt as well.
    """
    try:
        return read()
    except FileNotFoundError:
        return read()

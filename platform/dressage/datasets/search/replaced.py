"""Reads of notes whose file another one takes the place of meanwhile, as where a job ends or is undone."""

from collections.abc import Callable
from typing import TypeVar

Read = TypeVar("Read")


def read_again(read: Callable[[], Read]) -> Read:
    """Result of ``read``, which asks the database which notes there are; asked once more where their file is gone.

    Raises:
        FileNotFoundError: where a file is gone the second time as well.
    """
    try:
        return read()
    except FileNotFoundError:
        return read()

"""Iteration that prepares the next item in another thread while the current one is being processed."""

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def ahead(items: Iterator[T]) -> Generator[T]:
    """Yield the items, preparing at most one in advance. An exception is raised when its item is due.

    Closing this generator waits for the item in progress, so that its source is no longer in use afterwards.
    """
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = thread.submit(next, items, None)
            yield item

"""Iteration in which the next item is made by another thread, while the one before is worked on."""

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def ahead(items: Iterator[T]) -> Generator[T]:
    """The items, of which one at most is made before it is asked for; what their making raises is raised in its turn.

    When this generator is closed, the item that is under way is waited for: then nobody uses what it is made from.
    """
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = thread.submit(next, items, None)
            yield item

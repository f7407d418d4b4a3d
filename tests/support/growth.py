"""How work grows with its size: that holds on any machine, and beside any load."""

import math
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
NOT_QUADRATIC = 1.5
"""Linear work measures between 0.6 and 1.1, quadratic work near 2."""
FACTOR = 4
TRIES = 5


def growth(work: Callable[[T], object], made: Callable[[int], T], size: int) -> float:
    """The exponent with which the processor time of ``work`` grows with its size: 1 is linear, 2 quadratic.

    The least of several measurements counts, of this thread alone: a busy machine only adds to the others.

    Args:
        work: what is measured.
        made: its argument of a size.
        size: the larger of the two sizes; ``work`` should take a millisecond at a quarter of it.
    """
    sizes = [made(size // FACTOR), made(size)]
    seconds = [math.inf, math.inf]
    for _ in range(TRIES):
        for place, argument in enumerate(sizes):
            started = time.thread_time()
            work(argument)
            seconds[place] = min(seconds[place], time.thread_time() - started)
    return math.log(seconds[1] / seconds[0], FACTOR)

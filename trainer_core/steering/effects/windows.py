"""The steps before and after a control that are compared: steps in which nothing else was changed."""

from collections.abc import Sequence
from dataclasses import dataclass

BEFORE = 40
"""Most steps before. More than after, because the line through them is extrapolated."""
AFTER = 20
"""Most steps after."""


@dataclass(frozen=True, slots=True)
class Change:
    """A control in effect."""

    revision: int
    applied: int
    """Step of the first batch that it affected."""
    settled: int | None
    """Step of the first batch entirely under it."""


@dataclass(frozen=True, slots=True)
class Window:
    """Steps from ``first`` to ``last``, both included; empty if ``last`` is smaller."""

    first: int
    last: int

    @property
    def steps(self) -> int:
        """Number of steps."""
        return max(0, self.last - self.first + 1)


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows of a control. Steps from ``applied`` up to, but not including, ``settled`` are in neither."""

    before: Window
    after: Window
    cuts: tuple[str, ...]
    """Other changes that have made a window shorter, a sentence each."""
    closed: bool
    """Whether another change keeps the window after from growing."""


def windows(applied: int, settled: int, step: int, others: Sequence[Change]) -> Windows:
    """Windows around a control.

    Args:
        applied: step of the first batch that it affected.
        settled: step of the first batch entirely under it.
        step: the last step of the run.
        others: all other controls in effect.
    """
    first, last = max(1, applied - BEFORE), min(step, settled + AFTER - 1)
    begins, ends, closed = first, last, False
    cuts = []
    for other in sorted(others, key=lambda one: one.applied, reverse=True):
        if other.applied >= applied:
            continue
        free = applied if other.settled is None else min(other.settled, applied)
        if free > begins:
            begins = free
            cuts.append(_begin(other, applied))
    for other in sorted(others, key=lambda one: one.applied):
        if other.applied >= applied and other.applied <= settled + AFTER - 1:
            ends, closed = min(ends, other.applied - 1), True
            cuts.append(_end(other, settled))
            break
    return Windows(Window(begins, applied - 1), Window(settled, ends), tuple(cuts), closed)


def _begin(other: Change, applied: int) -> str:
    said = f"Another change at step {other.applied} (revision {other.revision})"
    if other.settled is None or other.settled >= applied:
        return f"{said} had not settled when this one took effect: the two cannot be separated."
    return f"{said} settled at step {other.settled}, where the window before begins."


def _end(other: Change, settled: int) -> str:
    said = f"Another change at step {other.applied} (revision {other.revision})"
    if other.applied <= settled:
        return f"{said} came before this one had settled: the two cannot be separated."
    return f"{said} ends the window after."

"""Ramps: controls that take a number to its new value over several steps. Platform and worker reckon alike."""

from typing import Any

LEAST_STEPS = 2
"""Steps of the shortest ramp; one step is a plain control."""


def can_ramp(before: Any, value: Any) -> bool:
    """Whether there are numbers between the two."""
    return all(isinstance(one, int | float) and not isinstance(one, bool) for one in (before, value))


def ramp_value(before: float, value: float, steps: int, number: int) -> float:
    """Value in the ``number``-th step of a ramp of ``steps``, from 1: each moves it by the same part of the way.

    Whole numbers stay whole. From the last step on it is ``value`` itself.
    """
    if number >= steps:
        return value
    between = before + (value - before) * max(0, number) / steps
    return round(between) if isinstance(before, int) and isinstance(value, int) else between

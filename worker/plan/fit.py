"""Fit of rates to timings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from trainer_core.planning.fitting import line
from trainer_core.planning.rates import DecodePoint


def decode_table(readings: Sequence[tuple[int, float]]) -> tuple[DecodePoint, ...]:
    """Decode speed by load.

    Args:
        readings: (running sequences, seconds) of single decode steps, at least one with a running sequence.
    """
    bins: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
    for running, seconds in readings:
        if running > 0:
            bins[running.bit_length()].append((running, seconds))
    points = []
    for _, found in sorted(bins.items()):
        load = sum(running for running, _ in found) / len(found)
        # The median, because a step that the system interrupted says nothing about the engine.
        points.append(DecodePoint(running=load, tokens_per_s=load / median(seconds for _, seconds in found)))
    return tuple(points)


def learner_line(updates: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """(tokens per second, seconds per update) from (tokens, seconds) of several updates of different sizes."""
    fixed, per_token = line(updates)
    return 1.0 / per_token, fixed

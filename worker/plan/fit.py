"""From stop-watch readings to rates."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from trainer_core.planning.fitting import line
from trainer_core.planning.rates import DecodePoint

_BINS_PER_DOUBLING = 1


def decode_table(readings: Sequence[tuple[int, float]]) -> tuple[DecodePoint, ...]:
    """Speed by load.

    Args:
        readings: (running sequences, seconds) of single decode steps, at least one with a running sequence.
    """
    bins: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
    for running, seconds in readings:
        if running > 0:
            bins[math.floor(math.log2(running) * _BINS_PER_DOUBLING)].append((running, seconds))
    points = []
    for _, found in sorted(bins.items()):
        tokens, seconds = sum(running for running, _ in found), sum(seconds for _, seconds in found)
        points.append(DecodePoint(running=tokens / len(found), tokens_per_s=tokens / seconds))
    return tuple(points)


def learner_line(updates: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """(tokens per second, seconds per update) from (tokens, seconds) of several updates of different sizes."""
    fixed, per_token = line(updates)
    return 1.0 / per_token, fixed

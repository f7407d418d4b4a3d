"""Repetition (MiniMax-M1, arXiv 2506.13585): a completion that has run into a loop teaches the loop."""

import numpy as np
from numpy.typing import NDArray

from trainer_core.spec.filters import RepetitionFilter
from trainer_core.trajectory import Group


def repetition(spec: RepetitionFilter, groups: list[Group]) -> None:
    """Exclude trajectories that the engine stopped for a repetition, or that end in one."""
    for group in groups:
        for trajectory in group.trajectories:
            stopped = str(trajectory.finish_reason) == "repetition"
            if stopped or repeats_at_end(trajectory.token_ids, spec.max_period) >= spec.min_repeats:
                trajectory.excluded = trajectory.excluded or "repetition"


def repeats_at_end(tokens: NDArray[np.int32], max_period: int) -> int:
    """How often the best pattern of at most ``max_period`` tokens stands at the end of ``tokens`` [T]; whole ones only.

    A completion that then ended by itself has its end-of-sequence token behind the loop: the last token may be odd.
    """
    return max(_repeats(tokens, max_period), _repeats(tokens[:-1], max_period))


def _repeats(tokens: NDArray[np.int32], max_period: int) -> int:
    best = min(len(tokens), 1)
    for period in range(1, min(max_period, len(tokens) - 1) + 1):
        # Where a token equals the one a period earlier, the pattern goes on; the first that does not ends the loop.
        differs = np.flatnonzero(tokens[period:] != tokens[:-period])
        matching = len(tokens) - period - (int(differs[-1]) + 1 if len(differs) else 0)
        best = max(best, matching // period + 1)
    return best
